// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster keeps Clusters: it has a tool provision them, watches their health, keeps the tool's state and the kubeconfig in
// Secrets, and has the tool remove them. It promises that there is one run for one configuration, whatever is restarted when, that
// nothing is forgotten before it has been removed, and that nothing secret shows.
//
// A pass goes through three phases:
//
//  1. observe reads the configuration, the tool's run, the stored state and what the prober has found (observe.go).
//  2. plan decides what is to be done (plan.go): pure.
//  3. act does it (act.go, store.go). Runs are started and followed, never waited for.
//
// Whatever a pass met, it then describes it in the status with at most one write (status.go), and tells the events when that write has
// succeeded (events.go). All conditions of a Cluster are written here: ConfigValid, Provisioned, KubeconfigAvailable, Healthy and
// Degraded by describe, the others by internal/status.
//
// The id of a run follows from the configuration and the number of the attempt, so that a pass that died between starting a run and
// saying so starts the same run again, which the provisioner knows. How a run ended is recorded in the status only after what it left
// has been saved.
//
// The cluster's API server is asked by a prober, one goroutine for each cluster, outside of the workers (prober.go).
package cluster
