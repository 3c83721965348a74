// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package libvirt is the driver for hosts with libvirt, whose guests are virtual machines of QEMU. A machine is a domain.
//
// A domain is ours by an element in its metadata and by nothing else: installation and UID of the VirtualMachine. The UID is the
// domain's UUID as well, so that a machine is found in one step and cannot be made twice. The domain's name is for people. The element
// also lists the volumes that were made for the machine: those go with it, and no others.
//
// The calls of the library have no time limit, and a daemon that hangs would keep them for ever. So every call is made beside its
// caller, who leaves when its context ends; a connection on which an answer is overdue is closed, which ends whatever waits on it, and the
// next call makes a new one.
//
// Whether a guest is started again is not for libvirt to decide: domains are not started with the host, and stay off once they are off.
package libvirt
