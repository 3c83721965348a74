// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command windlass is the operator. Called as kubectl-windlass it is the kubectl plugin.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/windlass-operator/windlass/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; the second one finds no handler any more and ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(app.Main(ctx, os.Args))
}
