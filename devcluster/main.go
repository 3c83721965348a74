// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command devcluster is all of Kubernetes in one binary. Started as devcluster, it is a CLI that starts and stops local
// clusters. Started under the name of a component, through a symlink, it is that component.
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
