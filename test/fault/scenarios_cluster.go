// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneCluster is the Cluster of all scenarios: it leads to the control plane of its lane, of which there is one. Steps know it as clusterA.
const (
	oneCluster = "a"
	clusterA   = "clusters.clusterprovisioner.rke.io/" + oneCluster
)

// clusterScenarios are scenarios of a Cluster and its Kubeconfigs.
func clusterScenarios() []scenario {
	ready := until(clusterA, "Ready=True")
	all := []scenario{
		{name: "created", steps: []step{applyCluster(), ready}},
		{name: "changed", before: []step{applyCluster(), ready}, steps: []step{
			configure("two"), appliedAgain(), ready,
		}},
		{name: "approved", before: []step{applyCluster("approval: Manual"), awaitPlan(clusterA), approve(clusterA), ready}, steps: []step{
			configure("two"), awaitPlan(clusterA), approve(clusterA), appliedAgain(), ready,
		}},
		{name: "retried", before: []step{applyCluster(), ready}, steps: []step{
			merge(clusterA, `{"metadata":{"annotations":{"clusterprovisioner.rke.io/retry":"once"}}}`), appliedAgain(), ready,
		}},
		{name: "restarted", before: []step{applyCluster(), ready}, steps: []step{restart(), configure("two"), appliedAgain(), ready}},
		{name: "deleted", undone: true, before: []step{applyCluster(), ready}, steps: []step{remove(clusterA), gone(clusterA)}},
		{name: "deleted-while-a-change-waits", undone: true, before: []step{applyCluster("approval: Manual"), awaitPlan(clusterA), approve(clusterA), ready}, steps: []step{
			configure("two"), until(clusterA, "Ready.reason=WaitingForApproval"), remove(clusterA), gone(clusterA), configure("one"),
		}},
		{name: "deleted-at-once", undone: true, steps: []step{applyCluster(), until(clusterA, ".metadata.finalizers#=1"), remove(clusterA), gone(clusterA)}},
		{name: "created-again", repeats: true, before: []step{applyCluster(), ready}, steps: []step{remove(clusterA), gone(clusterA), applyCluster(), ready}},
		{name: "token", before: []step{applyCluster(), ready}, steps: []step{
			apply(token("b")), until("kubeconfigs.clusterprovisioner.rke.io/b", "Ready=True"),
		}},
		{name: "token-deleted", before: []step{
			applyCluster(), ready, apply(token("b")), until("kubeconfigs.clusterprovisioner.rke.io/b", "Ready=True"),
		}, steps: []step{remove("kubeconfigs.clusterprovisioner.rke.io/b"), gone("kubeconfigs.clusterprovisioner.rke.io/b")}},
	}
	for i := range all {
		all[i].name, all[i].local, all[i].slow, all[i].setUp = "cluster/"+all[i].name, true, true, provisioning(oneCluster)
	}
	return all
}

// applyCluster applies the Cluster, which is tried again soon, with more lines of its spec.
func applyCluster(more ...string) step {
	return step{"apply cluster " + oneCluster, func(ctx context.Context, s *stage) error {
		manifest := fmt.Sprintf(`apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata: {name: %s}
spec:
  configPath: %s
  retry: {initial: 1s, max: 2s}
`, oneCluster, filepath.Join(s.clusters, oneCluster, "cluster.yml"))
		return apply(manifest+indented(more)).do(ctx, s)
	}}
}

// token returns a Kubeconfig of the Cluster with a token.
func token(name string) string {
	return fmt.Sprintf(`apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Kubeconfig
metadata: {name: %s}
spec: {clusterRef: {name: %s}, type: ServiceAccountToken}
`, name, oneCluster)
}

// configure changes the configuration of the Cluster, and an annotation if it is there: a Cluster that nothing wakes looks at its files every 15 seconds,
// which would be most of what a run takes.
func configure(version string) step {
	return step{"change the configuration of " + oneCluster, func(ctx context.Context, s *stage) error {
		if err := s.configure(oneCluster, version); err != nil {
			return err
		}
		return client.IgnoreNotFound(s.patch(ctx, clusterA, fmt.Sprintf(`{"metadata":{"annotations":{"example.com/configuration":%q}}}`, version)))
	}}
}

// awaitPlan waits for a plan.
func awaitPlan(ref string) step {
	return step{"wait until " + ref + " has a plan", func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(ctx context.Context) error {
			_, err := s.plan(ctx, ref)
			return err
		})
	}}
}

// approve approves the plan that there is.
func approve(ref string) step {
	return step{"approve the plan of " + ref, func(ctx context.Context, s *stage) error {
		plan, err := s.plan(ctx, ref)
		if err != nil {
			return err
		}
		return s.patch(ctx, ref, fmt.Sprintf(`{"metadata":{"annotations":{"clusterprovisioner.rke.io/approve":%q}}}`, plan))
	}}
}

// plan returns the ID of the plan of a Cluster.
func (s *stage) plan(ctx context.Context, ref string) (string, error) {
	object, err := s.get(ctx, ref)
	if err != nil {
		return "", err
	}
	plan := lookUp(object, ".status.plan.id")
	if plan == "" {
		err = fmt.Errorf("%s has no plan", ref)
	}
	return plan, err
}

// appliedAgain waits until the tool has done its work for the Cluster a second time.
func appliedAgain() step {
	return step{"wait until the tool was run again for " + oneCluster, func(ctx context.Context, s *stage) error {
		return s.await(ctx, func(context.Context) error {
			if done := s.provisioned(oneCluster); done < 2 {
				return fmt.Errorf("the tool was run for %s %d times, want 2", oneCluster, done)
			}
			return nil
		})
	}}
}
