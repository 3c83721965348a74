// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command noded is the small programs of a real node in one binary, chosen by the name it is called under: the first
// process of the node's namespaces, the pause container, and containerd's shim under any other name.
//
// They are no part of devcluster itself because every pod runs two of them: a program with all of Kubernetes in it would
// cost each of them its initialisation, and every pause container its size on disk.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task/plugin"
	"github.com/containerd/containerd/v2/pkg/shim"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "node-init":
		if err := nodeInit(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "node-init:", err)
			os.Exit(1)
		}
	case "pause":
		reapUntilTold()
	default:
		// The shim starts itself by the path of the executable, whatever it was called under.
		shim.RunShim(context.Background(), manager.NewShimManager("io.containerd.runc.v2"))
	}
}
