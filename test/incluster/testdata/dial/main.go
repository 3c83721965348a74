// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command dial says once a second, on one line, which of its addresses take a connection, as in "10.0.0.1:80=true 10.0.0.2:80=false".
package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	for {
		var said []string
		for _, address := range os.Args[1:] {
			connection, err := net.DialTimeout("tcp", address, time.Second) //nolint:noctx // the timeout is all that there is to it
			if err == nil {
				_ = connection.Close()
			}
			said = append(said, fmt.Sprintf("%s=%t", address, err == nil))
		}
		fmt.Println(strings.Join(said, " "))
		time.Sleep(time.Second)
	}
}
