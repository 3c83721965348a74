// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"os"

	"github.com/containerd/containerd/v2/cmd/containerd/command"
	"k8s.io/component-base/cli"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// lookupNode returns the components of a real node, which needs Linux.
func lookupNode(name string) (Main, bool) {
	switch name {
	case "containerd":
		return containerd, true
	case "kubelet":
		return func() int { return cli.Run(kubelet.NewKubeletCommand(context.Background())) }, true
	default:
		return nil, false
	}
}

// containerd does what its own main function does.
func containerd() int {
	if err := command.App().Run(context.Background(), os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "containerd:", err)
		return 1
	}
	return 0
}
