// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command guest is what runs in the containers of tests. It serves HTTP until it is asked to stop, and its flags make it a worse guest.
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
		ignore = flag.Bool("ignore", false, "do not stop when asked")
		burn   = flag.Bool("burn", false, "use the processor")
		hold   = flag.Int("hold", 0, "use this many MiB of memory")
		exit   = flag.Int("exit", -1, "end at once with this status")
	)
	flag.Parse()
	if *exit >= 0 {
		os.Exit(*exit)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGQUIT)
	// From here on it hears: a signal that reaches the first process of a container earlier is lost.
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
	go server.Serve(listener) //nolint:errcheck // because it serves until the end
	for range asked {
		if !*ignore {
			return
		}
	}
}

// touch uses memory, and not only its addresses.
func touch(mebibytes int) []byte {
	held := make([]byte, mebibytes<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	return held
}

// spin uses the processor.
func spin() {
	for i := uint64(1); i != 0; {
		i++
	}
}
