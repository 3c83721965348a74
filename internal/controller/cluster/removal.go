// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
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
	if last != nil && strings.HasPrefix(last.ID, removePrefix(cluster)) {
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
	if problem := cmp.Or(seen.unusable, seen.forbidden); problem != nil {
		return decision{outcome: flow.Stall(problem.reason, errors.New(problem.message+orphanHint))}
	}
	from, known := removeFrom(cluster, seen)
	if !known {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonConfigNotFound, errors.New(
			"the configuration that was applied is not known any more. Restore it"+orphanHint))}
	}
	return decision{
		start:   &launch{id: removeID(cluster, attempt), action: provision.Remove, attempt: attempt, document: from},
		outcome: working(provision.Remove),
	}
}

// orphanHint says how to delete a Cluster that the tool cannot remove.
const orphanHint = ", or set spec.deletionPolicy to Orphan to delete the Cluster and leave its machines as they are"

// removeFrom returns the configuration that the cluster has to be removed with, which the spec may not name any more: what the tool was
// never given, because it was refused or not approved, must not decide what it removes. Without a copy the present configuration will do
// if it is the one that the tool was given.
func removeFrom(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) (document, bool) {
	if from := seen.stored.toRemove(); len(from.text) > 0 {
		return from, true
	}
	last := cluster.Status.LastOperation
	given := seen.config.Digest == cluster.Status.AppliedConfigHash || last != nil && seen.config.Digest == last.ConfigHash
	return document{seen.raw, cluster.Spec.ConfigPath}, given && seen.problem == nil && len(seen.raw) > 0
}

// orphaned reports whether the Cluster goes, and its machines stay. Then nothing of its runs has to be recorded, which may be what fails.
func orphaned(cluster *clusterprovisionerv1alpha1.Cluster) bool {
	return !cluster.DeletionTimestamp.IsZero() && cluster.Spec.DeletionPolicy == clusterprovisionerv1alpha1.DeletionOrphan
}

// canRelease reports whether nothing of the cluster is left that the tool has to remove. What another Cluster's file describes is for that
// Cluster to remove, unless this one was applied before its spec named that file.
func canRelease(cluster *clusterprovisionerv1alpha1.Cluster, seen observation) bool {
	last := cluster.Status.LastOperation
	accepted := cluster.Annotations[clusterprovisionerv1alpha1.AcceptSkippedAnnotation] == "true"
	untouched := seen.run == nil && last == nil && cluster.Status.AppliedConfigHash == "" && seen.stored == nil
	return orphaned(cluster) || untouched || seen.claimant != "" && !seen.elsewhere ||
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
	given, err := provision.ReadConfig(seen.stored.given.text)
	if err != nil || len(given.Nodes) == 0 {
		return false
	}
	nodes := given.Nodes
	if len(seen.stored.applied.text) > 0 {
		applied, err := provision.ReadConfig(seen.stored.applied.text)
		if err != nil || len(applied.Nodes) == 0 {
			return false
		}
		nodes = slices.Concat(nodes, applied.Nodes)
	}
	return !slices.ContainsFunc(nodes, func(node provision.Node) bool {
		return !slices.Contains(cluster.Status.SkippedNodes, node.Address) // tools name machines by their address
	})
}
