// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Chose reports whether the pod names the pool, by its RuntimeClass or by the pod label.
func Chose(pod *corev1.Pod, pool string) bool {
	byClass := pod.Spec.RuntimeClassName != nil && *pod.Spec.RuntimeClassName == pool
	return byClass || pod.Labels[nodesv1.PoolLabel] == pool
}

// Ended reports whether the pod has ended by itself.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Evicts reports whether pods are evicted from the nodes that leave the pool.
func Evicts(pool *nodesv1.NodePool) bool {
	if pool.Spec.Drain == nil || pool.Spec.Drain.Policy != nodesv1.DrainEvict {
		return false
	}
	forced := pool.Annotations[nodesv1.ForceDeleteAnnotation] == "true"
	orphans := pool.Spec.DeletionPolicy == nodesv1.DeletionOrphan
	return pool.DeletionTimestamp == nil || !forced && !orphans
}
