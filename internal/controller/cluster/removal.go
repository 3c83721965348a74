// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"slices"
	"strings"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// planRemoval has the cluster removed, and releases the Cluster once it is.
func planRemoval(cluster *clusterprovisionerv1alpha1.Cluster, seen observation, now time.Time) decision {
	last := cluster.Status.LastOperation
	if canRelease(cluster, seen) {
		return decision{release: true}
	}
	attempt := int32(1)
	if last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove {
		attempt = last.Attempt + 1
		failed := *last
		if removed(last) {
			failed.Reason, failed.Message = clusterprovisionerv1alpha1.ReasonNodesSkipped, "the tool could not reach "+
				strings.Join(cluster.Status.SkippedNodes, ", ")
		}
		if outcome, at := pause(cluster.Spec.Retry, &failed, now); !outcome.IsDone() {
			return decision{outcome: outcome, retryAt: at}
		}
	}
	if status.IsPaused(cluster) {
		return decision{outcome: paused()}
	}
	raw := seen.raw
	if seen.problem != nil && seen.stored != nil {
		raw = seen.stored.config // the one that the tool was last given
	}
	if len(raw) == 0 {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonConfigNotFound, errors.New(
			"the tool cannot remove the cluster without its configuration, and there is no copy. Restore it, or set spec.deletionPolicy to Orphan"))}
	}
	return decision{
		start:   &launch{id: removeID(cluster, attempt), action: provision.Remove, attempt: attempt, raw: raw},
		outcome: working(provision.Remove),
	}
}

// canRelease reports whether nothing of the cluster is left that the tool has to remove.
func canRelease(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) bool {
	last := cluster.Status.LastOperation
	accepted := cluster.Annotations[clusterprovisionerv1alpha1.AcceptSkippedAnnotation] == "true"
	untouched := seen.run == nil && last == nil && cluster.Status.AppliedConfigHash == "" && seen.stored == nil
	return cluster.Spec.DeletionPolicy == clusterprovisionerv1alpha1.DeletionOrphan || untouched ||
		removed(last) && (len(cluster.Status.SkippedNodes) == 0 || accepted) || accepted && reachedNone(cluster, seen)
}

// removed reports whether the last run removed the cluster.
func removed(last *clusterprovisionerv1alpha1.Operation) bool {
	return last != nil && last.Action == clusterprovisionerv1alpha1.ActionRemove && last.EndTime != nil && last.Reason == ""
}

// reachedNone reports whether the last removal failed without reaching any machine, neither of the configuration that the tool was last
// given nor of the one that is applied. What still runs on a machine that may have answered is for the tool to remove; so a cluster
// whose machines are not known does not count.
func reachedNone(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) bool {
	last := cluster.Status.LastOperation
	if last == nil || last.Action != clusterprovisionerv1alpha1.ActionRemove || last.EndTime == nil || last.Reason == "" || seen.stored == nil {
		return false
	}
	given, err := provision.ReadConfig(seen.stored.config)
	if err != nil || len(given.Nodes) == 0 {
		return false
	}
	nodes := given.Nodes
	if len(seen.stored.applied) > 0 {
		applied, err := provision.ReadConfig(seen.stored.applied)
		if err != nil || len(applied.Nodes) == 0 {
			return false
		}
		nodes = slices.Concat(nodes, applied.Nodes)
	}
	return !slices.ContainsFunc(nodes, func(node provision.Node) bool {
		return !slices.Contains(cluster.Status.SkippedNodes, node.Address) // tools name machines by their address
	})
}
