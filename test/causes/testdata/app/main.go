// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command app is the program of the image of the faults: "app exit 3" ends with code 3, anything else waits to be ended.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "exit" {
		fmt.Println("the last words of the app")
		code, err := strconv.Atoi(os.Args[2])
		if err != nil {
			code = 1
		}
		os.Exit(code)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	<-told
}
