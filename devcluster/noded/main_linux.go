// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command noded contains the small programs of a real node in one binary. The name that it is started under selects the
// program: the first process of the node's namespaces, the pause container, and containerd's shim under any other name.
//
// They are not part of devcluster itself because every pod runs two of them: each would initialise all of Kubernetes, and
// every pause container would need the disk space.
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
		pause()
	default:
		// The shim starts itself by the path of the executable, not by the name it was started under.
		shim.RunShim(context.Background(), manager.NewShimManager("io.containerd.runc.v2"))
	}
}
