// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	"github.com/go-logr/logr"
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

// Evicting returns the taints that delete running pods and that the ledger does not hold yet: those about to be put on nodes.
func Evicting(pool *nodesv1.NodePool) []nodesv1.Taint {
	return slices.DeleteFunc(slices.Clone(pool.Spec.Taints), func(t nodesv1.Taint) bool {
		held := slices.Contains(pool.Status.Ledger.Taints, LedgerTaint(t))
		return t.Effect != corev1.TaintEffectNoExecute || held
	})
}

// ToleratesAll reports whether the pod tolerates all of the taints.
func ToleratesAll(pod *corev1.Pod, taints []nodesv1.Taint) bool {
	return !slices.ContainsFunc(taints, func(t nodesv1.Taint) bool {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}
		return !slices.ContainsFunc(pod.Spec.Tolerations, func(toleration corev1.Toleration) bool {
			return toleration.ToleratesTaint(logr.Discard(), &taint, false)
		})
	})
}
