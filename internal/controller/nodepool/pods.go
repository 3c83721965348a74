// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// pageSize is how many pods are read at a time.
const pageSize = 500

// podsToEvict counts the running pods on the named nodes that do not tolerate the taints. It reads past the cache, page by page:
// that many pods are worth the memory only for the moment in which somebody asks.
func (r *Reconciler) podsToEvict(ctx context.Context, nodes []string, taints []nodesv1.Taint) (int32, error) {
	var evicted int32
	err := r.eachRunningPod(ctx, func(pod *corev1.Pod) {
		if _, found := slices.BinarySearch(nodes, pod.Spec.NodeName); found && !toleratesAll(pod, taints) {
			evicted++
		}
	})
	return evicted, err
}

// podsInUse counts the running pods that name the pool, by its RuntimeClass or by the pod label.
func (r *Reconciler) podsInUse(ctx context.Context, pool string) (int32, error) {
	var users int32
	err := r.eachRunningPod(ctx, func(pod *corev1.Pod) {
		users += one(chose(pod, pool))
	})
	return users, err
}

// chose reports whether the pod names the pool, by its RuntimeClass or by the pod label.
func chose(pod *corev1.Pod, pool string) bool {
	byClass := pod.Spec.RuntimeClassName != nil && *pod.Spec.RuntimeClassName == pool
	return byClass || pod.Labels[nodesv1.PoolLabel] == pool
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (r *Reconciler) eachRunningPod(ctx context.Context, visit func(*corev1.Pod)) error {
	list := &corev1.PodList{}
	for {
		err := r.live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue))
		if err != nil {
			return fmt.Errorf("cannot list pods: %w", err)
		}
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Spec.NodeName != "" && !ended(pod) && pod.DeletionTimestamp == nil {
				visit(pod)
			}
		}
		if list.Continue == "" {
			return nil
		}
	}
}

func toleratesAll(pod *corev1.Pod, taints []nodesv1.Taint) bool {
	return !slices.ContainsFunc(taints, func(t nodesv1.Taint) bool {
		taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}
		return !slices.ContainsFunc(pod.Spec.Tolerations, func(toleration corev1.Toleration) bool {
			return toleration.ToleratesTaint(logr.Discard(), &taint, false)
		})
	})
}

// evicting returns the taints that delete running pods and that the ledger does not hold yet: those about to be put on nodes.
func evicting(pool *nodesv1.NodePool) []nodesv1.Taint {
	return slices.DeleteFunc(slices.Clone(pool.Spec.Taints), func(t nodesv1.Taint) bool {
		held := slices.Contains(pool.Status.Ledger.Taints, t.Key+"="+t.Value+":"+string(t.Effect))
		return t.Effect != corev1.TaintEffectNoExecute || held
	})
}
