// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinegc finds machines of this installation that have no VirtualMachine: those that an object without its finalizer,
// or a lost cluster, has left behind. It reports them, and removes them if the administrator wants that. It also reports second machines of an object,
// and never removes those: which one is wanted, only a person knows.
//
// Once a period, a Collector sweeps each host:
//
//  1. observe lists the machines of the host, the retained ones, and the objects that they belong to. confirm looks once more for those that seem to have
//     lost their objects (observe.go).
//  2. plan decides which machines are new orphans, or second ones of an object whose machine is on another host, which are orphans long enough to be removed, which objects have to look at their
//     machine, and which entries of the list of retained machines are outdated (plan.go): pure.
//  3. act records events, removes machines and updates the list (act.go, events.go).
//
// Machines of other installations are not even listed. A machine is removed only after the API server itself was asked once more
// for its object, and for the list of retained machines.
package machinegc
