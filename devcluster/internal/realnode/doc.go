// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package realnode provides what a real node of a local cluster needs besides its processes: the check of the machine, the
// configuration of kubelet and containerd, the cgroup of all pods, and images without a registry.
//
// The node's processes share a mount and a process namespace of their own. The first process of those, node-init, is
// the node's power switch: when it ends, the kernel ends every container, shim and daemon and removes every mount and
// network namespace, also after a crash. Only cgroups remain; RemoveCgroups removes them.
package realnode
