// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command devcluster is a whole Kubernetes in one binary. Called as devcluster it is a small CLI that starts and stops
// local clusters; called under the name of a component, through a symlink, it is that component.
package main

import (
	"os"
	"path/filepath"

	"github.com/windlass-operator/windlass/devcluster/internal/cli"
	"github.com/windlass-operator/windlass/devcluster/internal/component"
)

func main() {
	name := filepath.Base(os.Args[0])
	if run, ok := component.Lookup(name); ok {
		os.Exit(run())
	}
	os.Exit(cli.Main(os.Args[1:]))
}
