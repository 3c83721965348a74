// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sh stands in for the shell of busybox in images that the tests make: it says what it is told to, and else waits to be
// ended.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if len(os.Args) > 1 {
		fmt.Println(strings.Join(os.Args[1:], " "))
		return
	}
	<-told
}
