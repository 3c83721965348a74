// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command guest runs in the containers of tests. It serves HTTP until it is stopped. Its flags make it misbehave.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	var (
		listen = flag.String("listen", ":80", "address to serve HTTP on")
		ignore = flag.Bool("ignore", false, "ignore signals to stop")
		burn   = flag.Bool("burn", false, "use CPU")
		hold   = flag.Int("hold", 0, "MiB of memory to use")
		exit   = flag.Int("exit", -1, "exit at once with this status")
	)
	flag.Parse()
	if *exit >= 0 {
		os.Exit(*exit)
	}
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTERM, syscall.SIGQUIT)
	// From here on signals arrive: the first process of a container ignores those that come before.
	fmt.Println("ready")
	held := touch(*hold)
	if *burn {
		go spin()
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot listen:", err)
		os.Exit(1)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, len(held))
	})}
	go func() { fmt.Fprintln(os.Stderr, "cannot serve:", server.Serve(listener)) }()
	for range stops {
		if !*ignore {
			return
		}
	}
}

// touch writes to every page, so that the memory is really used.
func touch(mebibytes int) []byte {
	held := make([]byte, mebibytes<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	return held
}

// spin uses CPU.
func spin() {
	for i := uint64(1); i != 0; {
		i++
	}
}
