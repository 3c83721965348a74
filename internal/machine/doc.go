// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine is the contract between a VirtualMachine and whatever runs it: a container engine, a hypervisor, or a
// simulation. A driver below this package observes and acts; it decides nothing, remembers nothing that a restart must not
// lose, and knows nothing of Kubernetes.
//
// What every driver promises, and the suite in contract proves:
//
//   - Identity is what the driver wrote into the machine (installation, UID), never the machine's name. A machine that is
//     not ours is never touched, whatever it is called.
//   - Every action is idempotent: creating what exists adopts it, starting what runs, stopping what stands and deleting
//     what is gone succeed. A caller that died half-way calls again.
//   - Every call ends when its context does, with the context's error somewhere in the chain. A driver sets no time limits of
//     its own, except where its host needs one for a step of a call: package fleet bounds every call. What takes long and can be
//     done beforehand, as fetching an image or copying disks, belongs to Prepare, which has by far the longest limit.
//   - Errors say what kind they are (errors.Is with the values of errors.go). Whatever cannot be told apart is returned as
//     it is, and the caller tries again later.
//   - A driver is safe for use by several goroutines. Calls for one machine are made one at a time; the caller sees to it.
//
// Above the contract are the packages fleet, which calls the drivers, hosts, which reads the configuration, and placement,
// which chooses a host. Below it are the drivers docker, libvirt and simulated; they import nothing of Windlass but this
// package.
package machine
