// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package realnode is what a real node of a local cluster needs besides its processes: what the machine must have, the
// configuration of kubelet and containerd, the cgroup that all pods are in, and images without a registry.
//
// The node's processes share a mount and a process namespace of their own. The first process of those, node-init, is
// the node's power switch: when it ends, the kernel ends every container, shim and daemon and takes every mount and
// network namespace with them, also after a crash. Only cgroups outlive that; RemoveCgroups takes them away.
package realnode
