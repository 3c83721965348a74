// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package causes measures internal/why: its tests induce faults on real parts and look whether the explanation names the cause.
//
// A fault is data: what is wrong in plain English, the steps that make it so, and the wanted answer, which is a code, the field that
// proves it, and what the command of the next step has to show. The tables have a file per kind, and docs/why-faults.md is made
// from them.
//
// All faults share one control plane with a real scheduler and simulated nodes, and one manager. Some need a part that not every machine
// has: a real node, a Docker Engine, a libvirtd, a tool that makes real clusters; those only "make causes" induces. They run side by
// side, so each has a namespace, pools, nodes and hosts of its own, named after it, and every pod selects its nodes.
package causes
