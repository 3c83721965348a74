// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package libvirttest runs a libvirt of its own for a test: the real libvirtd, in namespaces of its own. It has its own processes, mounts,
// network and files, and can reach nothing but itself; when the test ends, or dies, the kernel takes all of it away, guests included.
// Nothing that the machine otherwise runs is seen or touched, least of all another libvirt.
package libvirttest
