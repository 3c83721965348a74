// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"errors"
)

// provisioned is a Cluster with a file of its own, from which the real tool makes a cluster.
func provisioned(name, config, spec string) []step {
	return []step{
		file(name+"/cluster.yml", config),
		have(`{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, metadata: {name: ` + name + `}, spec: {configPath: CONFIGS/` + name + `/cluster.yml, deletionPolicy: Orphan` + spec + `}}`),
	}
}

const (
	// oneMachine is a configuration that the tool accepts.
	oneMachine = "cluster_name: $\nnodes:\n- {address: 10.0.0.1, user: ubuntu, role: [controlplane, worker, etcd]}\n"
	oneAttempt = ", retry: {attempts: 1}"
	oftenAsked = ", health: {interval: 5s, timeout: 2s, failureThreshold: 1}"
)

// halt stops the cluster that the tool has made.
func halt() step {
	return step{"stop the cluster", func(ctx context.Context, r *trial) error {
		if done := r.world.Run(ctx, r.Devcluster, "stop", "--name", r.fault.id); done.Code != 0 {
			return errors.New(done.Err)
		}
		return nil
	}}
}

// provisionerFaults are of clusters that a real tool makes: real control planes.
func provisionerFaults() []fault {
	ready := until("cluster/$", "status.conditions[Ready]", "True")
	faults := []fault{
		{
			name: "The real tool refuses the configuration", id: "real-refused",
			steps: provisioned("$", "cluster_name: $\nnodes:\n- {address: 10.0.0.1, user: u, role: [etcd]}\n- {address: 10.0.0.1, user: u, role: [worker]}\n", oneAttempt),
			code:  "ConfigRefused", evidence: isCluster, message: "has the name \"10.0.0.1\" of nodes[0], set hostname_override",
		},
		{
			name: "Another file has made a cluster of the name with the real tool", id: "real-name",
			steps: append(append(provisioned("$-first", oneMachine, ""), until("cluster/$-first", "status.conditions[Ready]", "True")), provisioned("$", oneMachine, oneAttempt)...),
			code:  "Unknown", evidence: isCluster, message: "another cluster_name",
		},
		{
			name: "The real cluster was ready and does not answer", id: "real-stopped",
			steps: append(provisioned("$", oneMachine, oftenAsked), ready, halt()),
			code:  "NotAnswering", evidence: "Cluster/$ status.conditions[Healthy]", message: "connection refused",
		},
	}
	for i := range faults {
		faults[i].ask, faults[i].needs = "clusters/$", realProvisioner
	}
	return faults
}
