// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/why"
)

// lacking reports whether pods of a PodSet with a pool do not come, so that it is worth looking at the pool: pods are missing,
// or some are there and not available, or a new template waits for its pods though it is not held back.
func lacking(podSet *appsv1alpha1.PodSet, own *appsv1.Deployment) bool {
	if podSet.Spec.NodePool == "" || podSet.Spec.Size == 0 || own == nil || !observed(own) {
		return false
	}
	size, counts := podSet.Spec.Size, own.Status
	if counts.AvailableReplicas < size || podSet.Spec.Paused {
		return counts.AvailableReplicas < size
	}
	return counts.UpdatedReplicas < size || counts.AvailableReplicas < counts.Replicas
}

// explain says what about the pool keeps pods from coming, nil where none are missing or it is not the pool. What the API
// server said when it refused pods comes before what the pool would do to pods that it had let in.
func explain(podSet *appsv1alpha1.PodSet, seen observation) *why.Cause {
	own := ownDeployment(podSet, seen.deployment)
	if seen.pool == nil || !lacking(podSet, own) {
		return nil
	}
	pods := why.Pods{
		Wanted: podSet.Spec.Size, Created: own.Status.UpdatedReplicas, Unplaced: seen.unplaced, PerNode: seen.perNode,
	}
	if podSet.Spec.Template != nil {
		pods.Spec = &podSet.Spec.Template.Spec
	}
	if seen.namespace != nil {
		pods.Namespace = seen.namespace
	}
	cause := why.PodsMissing(pods, *seen.pool)
	failure := find(own, appsv1alpha1.ConditionReplicaFailure)
	if cause != nil && !cause.Refusal && failure != nil && failure.Status == corev1.ConditionTrue {
		return nil
	}
	return cause
}

// shortfall says how many pods do not come. In contrast to missing it does not tell of old pods that stay until they do.
func shortfall(size int32, counts appsv1.DeploymentStatus) string {
	if counts.UpdatedReplicas < size {
		return missing(size, counts)
	}
	all := max(size, counts.Replicas)
	return fmt.Sprintf("%d of %d pods to be available", all-counts.AvailableReplicas, all)
}
