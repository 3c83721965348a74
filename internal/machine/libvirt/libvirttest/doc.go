// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package libvirttest runs a private libvirt for a test: the real libvirtd, in namespaces of its own. It has its own processes, mounts,
// network and files, and cannot reach anything else. When the test ends or dies, the kernel removes all of it, including guests. It does not
// see or change anything else on the machine, in particular no other libvirt.
package libvirttest
