// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineusage measures the machines of VirtualMachines and the hosts that they run on. It publishes the figures as
// metrics, and writes the usage of each machine into its status now and then.
//
// A Sampler reads the counters of all machines of a host with one call a period, host by host. It keeps no list of machines: which
// machines exist, and where, it reads from the cache. In the status it owns server.usage alone, under a field manager of its own,
// so that it never conflicts with the controller of VirtualMachines.
//
// Read sampler.go first: it observes. plan.go decides what is due, act.go writes, metrics.go publishes.
package machineusage
