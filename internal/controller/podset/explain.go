// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/why"
)

// lacking reports whether pods of a PodSet with a pool do not start, so that the pool is worth a check: pods are missing,
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

// explain says what about the pool keeps pods from starting; nil if no pods are missing or the pool is not the cause. A rejection by the
// API server comes before what the pool would do to pods that exist.
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
		pods.Namespace, pods.OperatorNamespace = seen.namespace, seen.operatorNamespace
	}
	cause := why.PodsMissing(pods, *seen.pool)
	failure := find(own, appsv1alpha1.ConditionReplicaFailure)
	if cause != nil && !cause.Refusal && failure != nil && failure.Status == corev1.ConditionTrue {
		return nil
	}
	return cause
}
