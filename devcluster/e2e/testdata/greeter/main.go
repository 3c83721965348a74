// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command greeter is what the tests run in containers: it greets and waits, or says what it is told and ends.
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
	fmt.Println("greetings")
	<-told
}
