// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The index membership.IndexField has to be registered before.
func (r *Reconciler) SetupWithManager(_ context.Context, mgr manager.Manager, workers int) error {
	return builder.ControllerManagedBy(mgr).
		Named("node").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		Watches(&nodesv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(r.nodesOf), builder.WithPredicates(poolChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)}).
		Complete(r)
}

// nodeChanged lets through what can change a plan: the labels, the taints and Windlass' own record. Everything else that
// happens to a node, its heartbeat above all, is nothing to this controller.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return len(membership.Concerned(e.Object)) > 0 },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Node)
			after, isNode := e.ObjectNew.(*corev1.Node)
			if !ok || !isNode || len(membership.Concerned(before))+len(membership.Concerned(after)) == 0 {
				return false
			}
			return !maps.Equal(before.Labels, after.Labels) ||
				!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
				before.Annotations[nodesv1.AppliedAnnotation] != after.Annotations[nodesv1.AppliedAnnotation]
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// poolChanged lets through what can change a plan: the spec, the ledger, the finalizers, pausing and deletion. The rest of
// the status is the pool controller's report on this controller's own work.
func poolChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*nodesv1.NodePool)
			after, isPool := e.ObjectNew.(*nodesv1.NodePool)
			return ok && isPool && (before.Generation != after.Generation ||
				before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
				status.IsPaused(before) != status.IsPaused(after) ||
				!slices.Equal(before.Finalizers, after.Finalizers) ||
				!equality.Semantic.DeepEqual(before.Status.Ledger, after.Status.Ledger))
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// nodesOf returns the nodes that are in the pool or carry something of it.
func (r *Reconciler) nodesOf(ctx context.Context, pool client.Object) []reconcile.Request {
	nodes := &corev1.NodeList{}
	err := r.client.List(ctx, nodes, client.MatchingFields{membership.IndexField: pool.GetName()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		// A list from the cache fails only when the cache is being stopped.
		log.FromContext(ctx).Error(err, "Cannot list the nodes of a pool", "pool", pool.GetName())
		return nil
	}
	requests := make([]reconcile.Request, 0, len(nodes.Items))
	for i := range nodes.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&nodes.Items[i])})
	}
	return requests
}
