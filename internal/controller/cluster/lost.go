// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// observeLost looks for the state of the tool where its Secret is gone: every run writes that before it starts, so that somebody has deleted it. Without
// the state the tool would make the machines a second time, or remove none of them and succeed.
func (r *Reconciler) observeLost(ctx context.Context, cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) error {
	if !misses(cluster, seen) {
		return nil
	}
	left := seen.left
	if left == nil {
		found, err := r.provisioner.Collect(ctx, placeOf(cluster, cluster.Spec.ConfigPath), seen.tool)
		if err != nil && !errors.Is(err, provision.ErrPathRefused) {
			return fmt.Errorf("cannot read what is left of the tool's state: %w", err)
		}
		left = &found
	}
	switch {
	case len(left.State) == 0:
		seen.unusable = &refusal{clusterprovisionerv1alpha1.ReasonStateLost, fmt.Sprintf(
			"Secret %s/%s%s, which held the state of the tool, is gone. Restore it", r.namespace, cluster.Name, clusterprovisionerv1alpha1.StateSecretSuffix)}
	default: // with the end of a run that is not recorded, it is stored anyway; what the run was given has to be known all the same
		seen.stored, seen.unusable = regain(cluster, seen, left)
		seen.regained = seen.stored != nil && seen.left == nil
	}
	return nil
}

// misses reports whether the tool's state is not stored although it must be, and is needed. What is beside another Cluster's file is that one's.
func misses(cluster *clusterprovisionerv1alpha1.Cluster, seen *observation) bool {
	if seen.stored != nil || seen.unusable != nil || seen.claimant != "" || len(seen.tool.StateFiles) == 0 {
		return false
	}
	run := seen.run
	removal := run != nil && seen.left != nil && run.Action == provision.Remove && run.Phase == provision.Succeeded
	underWay := run != nil && run.Phase == provision.Running
	return begun(cluster) && !removal && !underWay && !canRelease(cluster, *seen)
}

// regain returns the store as far as it is still known, or why there is no storing that. The configuration is known if the present one is that which was
// applied, or was given to the tool.
func regain(cluster *clusterprovisionerv1alpha1.Cluster, seen *observation, left *provision.Artifacts) (*store, *refusal) {
	var none *store
	by := provision.Run{Action: provision.Up, Phase: provision.Failed}
	if seen.run != nil {
		by.StartedAt = seen.run.StartedAt
	}
	kept, lost := none.after(&by, left)
	if lost != nil {
		return nil, &refusal{lost.Reason, lost.Message}
	}
	if seen.problem != nil {
		return kept, nil
	}
	present := document{seen.raw, cluster.Spec.ConfigPath}
	if seen.config.Digest == cluster.Status.AppliedConfigHash {
		kept.applied = present
	}
	if last := cluster.Status.LastOperation; last != nil && seen.config.Digest == last.ConfigHash {
		kept.given = present
	}
	return kept, nil
}
