// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulated is the driver that needs no software: its machines exist in memory only, on hosts whose size, speed and faults
// can be set. The machines run no programs and answer nobody, and status.server.driver says so: "simulated".
//
// A Host stands for the daemon: it survives a crash of the manager, and drivers are opened on it. A Script says how it behaves.
// Tests write one; a hosts file puts it into the endpoint:
//
//	simulated://?cpu=64&memory=256Gi&latency=20ms&latency.prepare=2s&fail.create=0.05
//
// The environment of a machine says how that machine behaves: see EnvLoad, EnvIgnoreStop, EnvExitAfter and EnvExitCode. Every image
// can be fetched, with two exceptions: the repository "missing" does not exist, and "refused" cannot be fetched, whatever the
// registry and the tag.
//
// CPU counters are integrals over time, not random numbers: between any two samples they grow by what the machine should have used.
package simulated
