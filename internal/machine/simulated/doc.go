// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package simulated is the driver that needs nothing: machines that exist in memory only, on hosts that can be told how big and
// how slow they are and what goes wrong. They hold no programs and answer nobody, and say so: their driver is "simulated".
//
// A Host is the daemon: it is what a crash of the manager leaves alone and what a driver is opened on. A Script says how it behaves;
// tests write one, and a hosts file puts it into the endpoint:
//
//	simulated://?cpu=64&memory=256Gi&latency=20ms&latency.prepare=2s&fail.create=0.05
//
// A machine can be told how it behaves too, by its environment: see EnvLoad, EnvIgnoreStop, EnvExitAfter and EnvExitCode. An
// image is there for the asking, except for two: the repository called missing does not exist, and that called refused cannot be
// fetched, whatever is before their names and whatever the tag.
//
// CPU counters are integrals over the clock and not dice: between any two samples they have grown by what the machine was to use.
package simulated
