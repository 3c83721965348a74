// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// Chose reports whether the pod chose the pool, by the pod label or by the RuntimeClass with the pool's name. The class is nil if there is none.
//
// The label alone proves nothing: anybody may put it on a running pod. When a pod with the label is created, the policy also adds the member label to its
// node selector, which cannot be changed once the pod has a node.
func Chose(pod *corev1.Pod, pool *nodesv1.NodePool, class *nodev1.RuntimeClass) bool {
	byClass := pod.Spec.RuntimeClassName != nil && *pod.Spec.RuntimeClassName == pool.Name
	byLabel := pod.Labels[nodesv1.PoolLabel] == pool.Name && selected(pod.Spec.NodeSelector, pool.Name) != ""
	return byLabel || byClass && !isForeign(class, pool)
}

// isForeign reports whether the RuntimeClass with the pool's name belongs to another owner and selects other nodes: pods that name it did not choose
// the pool. A class that selects members is the pool's, even if a deletion that orphans it has removed its owner.
func isForeign(class *nodev1.RuntimeClass, pool *nodesv1.NodePool) bool {
	return class != nil && !metav1.IsControlledBy(class, pool) && SelectedLabel(class, pool.Name) == ""
}

// SelectedLabel returns the member label of the pool that the RuntimeClass selects, empty for none.
func SelectedLabel(class *nodev1.RuntimeClass, pool string) string {
	if class.Scheduling == nil {
		return ""
	}
	return selected(class.Scheduling.NodeSelector, pool)
}

// selected returns the member label of the pool that is in the selector, empty for none.
func selected(selector map[string]string, pool string) string {
	for _, key := range nodesv1.MemberLabels(pool) {
		if _, there := selector[key]; there {
			return key
		}
	}
	return ""
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
