// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// clusterScenarios are scenarios of Clusters and Kubeconfigs. Each Cluster leads to the control plane of its lane.
func clusterScenarios() []scenario {
	const a = "clusters.clusterprovisioner.rke.io/a"
	ready := until(a, "Ready=True")
	all := []scenario{
		{name: "created", steps: []step{applyCluster("a"), ready}},
		{name: "changed", before: []step{applyCluster("a"), ready}, steps: []step{
			configure("a", "two"), applied("a", 2), ready,
		}},
		{name: "approved", before: []step{applyCluster("a", "approval: Manual"), approve(a), ready}, steps: []step{
			configure("a", "two"), approve(a), applied("a", 2), ready,
		}},
		{name: "retried", before: []step{applyCluster("a"), ready}, steps: []step{
			merge(a, `{"metadata":{"annotations":{"clusterprovisioner.rke.io/retry":"once"}}}`), applied("a", 2), ready,
		}},
		{name: "restarted", before: []step{applyCluster("a"), ready}, steps: []step{restart(), configure("a", "two"), applied("a", 2), ready}},
		{name: "deleted", before: []step{applyCluster("a"), ready}, steps: []step{remove(a), gone(a)}},
		{name: "deleted-at-once", steps: []step{applyCluster("a"), until(a, "Reconciling=True"), remove(a), gone(a)}},
		{name: "created-again", before: []step{applyCluster("a"), ready}, steps: []step{remove(a), gone(a), applyCluster("a"), ready}},
		{name: "token", before: []step{applyCluster("a"), ready}, steps: []step{
			apply(token("b", "a")), until("kubeconfigs.clusterprovisioner.rke.io/b", "Ready=True"),
		}},
		{name: "token-deleted", before: []step{
			applyCluster("a"), ready, apply(token("b", "a")), until("kubeconfigs.clusterprovisioner.rke.io/b", "Ready=True"),
		}, steps: []step{remove("kubeconfigs.clusterprovisioner.rke.io/b"), gone("kubeconfigs.clusterprovisioner.rke.io/b")}},
	}
	for i := range all {
		all[i].name, all[i].local, all[i].slow, all[i].setUp = "cluster/"+all[i].name, true, true, provisioning("a")
	}
	return all
}

// applyCluster applies a Cluster that is tried again soon, with more lines of its spec.
func applyCluster(name string, more ...string) step {
	return step{"apply cluster " + name, func(ctx context.Context, s *stage) error {
		manifest := fmt.Sprintf(`apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata: {name: %s}
spec:
  configPath: %s
  retry: {initial: 1s, max: 2s}
`, name, filepath.Join(s.clusters, name, "cluster.yml"))
		for _, line := range more {
			manifest += "  " + line + "\n"
		}
		return apply(manifest).do(ctx, s)
	}}
}

// token returns a Kubeconfig with a token.
func token(name, cluster string) string {
	return fmt.Sprintf(`apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Kubeconfig
metadata: {name: %s}
spec: {clusterRef: {name: %s}, type: ServiceAccountToken}
`, name, cluster)
}

// configure changes the configuration of a Cluster.
func configure(name, version string) step {
	return step{"change the configuration of " + name, func(_ context.Context, s *stage) error { return s.configure(name, version) }}
}

// approve waits for a plan and approves it.
func approve(ref string) step {
	return step{"approve the plan of " + ref, func(ctx context.Context, s *stage) error {
		var plan string
		err := s.await(ctx, func(ctx context.Context) error {
			object, err := s.get(ctx, ref)
			if err != nil {
				return err
			}
			if plan = lookUp(object, ".status.plan.id"); plan == "" {
				return fmt.Errorf("%s has no plan", ref)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.patch(ctx, ref, fmt.Sprintf(`{"metadata":{"annotations":{"clusterprovisioner.rke.io/approve":%q}}}`, plan))
	}}
}

// applied waits until the tool has done its work for a Cluster that many times.
func applied(name string, times int) step {
	return step{fmt.Sprintf("wait until the tool was run for %s %d times", name, times), func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(context.Context) error {
			if done := s.provisioned(name); done < times {
				return fmt.Errorf("the tool was run for %s %d times, want %d", name, done, times)
			}
			return nil
		})
	}}
}
