// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/internal/plugin"
)

// Names under which kubectl calls the program: as a plugin, and to complete the plugin's arguments.
const (
	pluginName     = "kubectl-windlass"
	completionName = "kubectl_complete-windlass"
)

// Main runs the program with its name and its arguments, and returns the exit code. The name decides what it is.
func Main(ctx context.Context, args []string) int {
	switch strings.TrimSuffix(filepath.Base(args[0]), ".exe") {
	case pluginName:
		return plugin.Execute(ctx, pluginOptions(), args[1:])
	case completionName:
		return plugin.Execute(ctx, pluginOptions(), plugin.CompletionArgs(args[1:]))
	default:
		return Execute(ctx, NewCommand(), args[1:]) //nolint:contextcheck // because commands get the context of the call
	}
}

func pluginOptions() plugin.Options {
	ctrllog.SetLogger(logr.Discard()) // a plugin has no log: it tells what it cannot do
	return plugin.Options{Streams: plugin.OSStreams(), Version: version, Now: time.Now, Getenv: os.Getenv, UI: newUI()}
}
