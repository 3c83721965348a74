// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package libvirt is the driver for hosts with libvirt, whose guests are virtual machines of QEMU. A machine is a domain.
//
// A domain is ours if an element of its metadata says so: it holds the installation and the UID of the VirtualMachine. The UID is also the
// domain's UUID, so that one call finds a machine and nothing can make it twice. The domain's name is for people. The element also lists the
// volumes that were made for the machine.
//
// Disks hold data, and data outlives its description. Prepare makes disks, and only those that are missing; Create defines the domain on
// them. A disk with a machine's name is never created again, even if the domain is gone; owned.go explains how disks that no guest has used
// are recognized.
//
// Objects name images and disks, and libvirt could read every file of the host for them. source.go accepts only what the endpoint allows.
//
// The library's calls have no time limit. So each call runs in a goroutine of its own, and its caller returns when the context ends. If an
// answer is overdue, the connection is closed, which ends every call on it; the next call makes a new connection.
//
// libvirt does not decide whether a guest starts again: domains do not start with the host, and stay off once they are off.
package libvirt
