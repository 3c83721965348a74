// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// AcknowledgeRequest consents to what the brake of a NodePool holds.
type AcknowledgeRequest struct {
	// Generation of the pool that the caller has seen.
	Generation int64 `json:"generation" minimum:"1" doc:"metadata.generation of the pool that you have seen: another change of the pool needs another acknowledgement" example:"3"`
}

// Acknowledge lets the nodes go that the safety brake of a pool holds.
func Acknowledge(pool *nodesv1.NodePool, want AcknowledgeRequest) error {
	current := strconv.FormatInt(pool.Generation, 10)
	if want.Generation != pool.Generation {
		return changedSince(current, "The pool has changed since: its generation is "+current+" now. Read it again.")
	}
	braked := meta.IsStatusConditionTrue(pool.Status.Conditions, nodesv1.ConditionSafetyBrake)
	if !braked || pool.Status.ObservedGeneration != pool.Generation {
		return NothingToDo("The condition SafetyBrake of this generation is not True: nothing waits for an acknowledgement.")
	}
	annotate(pool, nodesv1.AcknowledgeAnnotation, current)
	return nil
}

// ApproveRequest consents to the plan of a Cluster.
type ApproveRequest struct {
	// Plan is the id of the plan that the caller has seen.
	Plan string `json:"plan" minLength:"1" maxLength:"63" doc:"status.plan.id of the plan that you have seen" example:"0f3c9a1be2d4"`
}

// Approve lets Windlass carry out the plan of a Cluster, unless it is another one than the caller has seen.
func Approve(cluster *clusterprovisionerv1alpha1.Cluster, want ApproveRequest) error {
	plan := cluster.Status.Plan
	switch {
	case plan == nil || cluster.Spec.Approval != clusterprovisionerv1alpha1.ApprovalManual:
		return NothingToDo("No plan of the Cluster waits for an approval.")
	case plan.ID != want.Plan || cluster.Status.ObservedGeneration != cluster.Generation:
		return changedSince(plan.ID, "The plan has changed since you have read it. Read the Cluster again.")
	}
	annotate(cluster, clusterprovisionerv1alpha1.ApproveAnnotation, plan.ID)
	return nil
}

// Retry has the tool run again, whatever the state of the Cluster.
func Retry(cluster *clusterprovisionerv1alpha1.Cluster, now time.Time) error {
	if last := cluster.Status.LastOperation; last != nil && last.EndTime == nil && last.Reason == "" {
		return refuse(runUnderWay, "The run "+last.ID+" is under way. Wait until it ends.")
	}
	annotate(cluster, clusterprovisionerv1alpha1.RetryAnnotation, now.UTC().Format(time.RFC3339Nano))
	return nil
}

// AcceptRequest consents to the machines that the removal of a Cluster has skipped.
type AcceptRequest struct {
	// Nodes are the machines that the caller has seen.
	Nodes []string `json:"nodes" minItems:"1" maxItems:"256" nullable:"false" doc:"status.skippedNodes as you have seen them, in any order: what runs there may still run" example:"[\"192.0.2.7\"]"`
}

// AcceptSkipped lets a Cluster go although the tool could not reach some of its machines.
func AcceptSkipped(cluster *clusterprovisionerv1alpha1.Cluster, want AcceptRequest) error {
	skipped := slices.Sorted(slices.Values(cluster.Status.SkippedNodes))
	switch {
	case cluster.DeletionTimestamp == nil || len(skipped) == 0:
		return NothingToDo("The Cluster is not being deleted with machines that the tool has skipped.")
	case !slices.Equal(skipped, slices.Sorted(slices.Values(want.Nodes))):
		list := strings.Join(skipped, ", ")
		return changedSince(list, "The tool has skipped other machines: "+list+".")
	}
	annotate(cluster, clusterprovisionerv1alpha1.AcceptSkippedAnnotation, "true")
	return nil
}
