// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster reconciles Clusters: a tool provisions them, Windlass probes their health, keeps the tool's state and the kubeconfig in
// Secrets, and has the tool remove them. It promises that a configuration is applied by one run at a time however often the manager
// restarts, that nothing is forgotten before it is removed, and that no secret shows in a status, an event or a log.
//
// A pass goes through five phases:
//
//  1. observe reads the configuration, the tool's run and what it left, the stored state and what the prober found (observe.go,
//     references.go).
//  2. plan decides what to do (plan.go, removal.go, waits.go): pure.
//  3. observeFile looks whether the file of a run that is about to start is another Cluster's (claims.go).
//  4. observeCredentials reads the SSH key and the host keys for that run (references.go).
//  5. act does it (act.go, kubeconfig.go, ownership.go). It starts and follows runs, publishes what they print (publish.go), keeps
//     that of the last ones (logs.go), and never waits for one.
//
// Each pass then describes what it found in the status, with at most one write (status.go), and records events after that write, those
// of what it has done also if the write has failed (events.go). All conditions of a Cluster are written here: ConfigValid, Provisioned,
// KubeconfigAvailable, Healthy and Degraded by describe, the others by internal/status.
//
// The ID of a run is derived from the configuration and the number of the attempt (runid.go). A manager that dies after it started a run
// and before it recorded that starts the same run again, and the provisioner recognizes it. The status says that a run has ended only
// after what the run left has been saved.
//
// The prober asks each cluster's API server from a goroutine of its own, outside of the workers (prober.go). The status lists the nodes that it
// answers with, beside machines of the configuration that are not among them (nodes.go).
package cluster
