// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=list;watch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, workers int) error {
	return builder.ControllerManagedBy(mgr).
		Named("drain").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		Watches(&nodesv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(nodesOfPool), builder.WithPredicates(poolChanged())).
		Watches(&nodesv1.NodePool{}, kube.Deleted(dropMetrics)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true), RateLimiter: flow.Backoff()}).
		Complete(tracing.Passes("drain", r))
}

// nodeChanged lets through a node that has lost a member label: no pod of that pool comes back, so the drain may begin. After a
// start, the pools bring up the nodes that are being drained.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			for key := range e.ObjectOld.GetLabels() {
				_, kept := e.ObjectNew.GetLabels()[key]
				if _, member := nodesv1.CutMemberLabel(key); member && !kept {
					return true
				}
			}
			return false
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// poolChanged lets through what decides about drains: which nodes are drained, and whether and for how long. Progress is this
// controller's own report.
func poolChanged() predicate.Predicate {
	changed := kube.Updates(kube.Declared, func(before, after *nodesv1.NodePool) bool {
		return !slices.Equal(undrained(before), undrained(after))
	})
	changed.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return changed
}

// nodesOfPool wakes the nodes that are being drained for the pool.
func nodesOfPool(_ context.Context, object client.Object) []reconcile.Request {
	pool, ok := object.(*nodesv1.NodePool)
	if !ok {
		return nil
	}
	var requests []reconcile.Request
	for _, name := range undrained(pool) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return requests
}

// undrained returns the names of the nodes, sorted, that are being drained for the pool.
func undrained(pool *nodesv1.NodePool) []string {
	var names []string
	for i := range pool.Status.Draining {
		if !pool.Status.Draining[i].Drained {
			names = append(names, pool.Status.Draining[i].Node)
		}
	}
	slices.Sort(names)
	return names
}
