// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machine is the contract between a VirtualMachine and whatever runs it: a container engine, a hypervisor or a
// simulation. A driver observes and acts. It decides nothing, keeps no state that a restart must not lose, and knows nothing
// of Kubernetes.
//
// Every driver promises the following, and the test suite in contract proves it:
//
//   - The identity of a machine is what the driver wrote into it (installation and UID), never its name. A driver never touches
//     a machine that is not ours, whatever its name.
//   - Every action is idempotent: creating a machine that exists adopts it; starting one that runs, stopping one that is off and
//     deleting one that is gone succeed. A caller that crashed half-way calls again.
//   - Every call ends when its context does, with the context's error in the chain. A driver sets no time limits of its own,
//     except where its host needs one for a step of a call: package fleet bounds every call. What takes long and can be done
//     beforehand, like fetching an image or copying disks, belongs to Prepare, which has by far the longest limit.
//   - Errors have a kind (errors.Is with the values in errors.go). An error without a kind is transient: the caller tries again
//     later.
//   - A driver can be used by several goroutines. The caller makes calls for the same machine one at a time.
//
// Above the contract are the packages fleet, which calls the drivers, operation, which runs long calls beside the reconciler, hosts,
// which reads the configuration, and placement, which chooses a host. Below it are the drivers docker, libvirt and simulated; they import nothing of Windlass but this
// package.
package machine
