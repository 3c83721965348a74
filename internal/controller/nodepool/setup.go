// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

const (
	// settleTime is how long changes of nodes are collected before the pool is counted again: a thousand joins are a few
	// counts, not a thousand.
	settleTime = 500 * time.Millisecond
	// recheckRelease is when to look again after the API server knew of a node that the cache did not.
	recheckRelease = time.Second
)

// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/status,verbs=patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The index membership.IndexField has to be registered before.
func (r *Reconciler) SetupWithManager(_ context.Context, mgr manager.Manager, workers int) error {
	return builder.ControllerManagedBy(mgr).
		Named("nodepool").
		For(&nodesv1.NodePool{}, builder.WithPredicates(poolChanged())).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(poolOfClass)).
		Watches(&corev1.Node{}, poolsOfNode(), builder.WithPredicates(nodeChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)}).
		Complete(r)
}

// poolChanged lets through everything but the parts of the status that this controller alone writes from what it sees. The
// ledger passes, because it decides the next step.
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
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// nodeChanged lets through what a pool counts. It is wider than what decides a node's labels and taints: readiness and
// resources too.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Node)
			after, isNode := e.ObjectNew.(*corev1.Node)
			return ok && isNode && (!maps.Equal(before.Labels, after.Labels) ||
				!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
				before.Annotations[nodesv1.AppliedAnnotation] != after.Annotations[nodesv1.AppliedAnnotation] ||
				isReady(before) != isReady(after) ||
				!equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) ||
				!equality.Semantic.DeepEqual(before.Status.Capacity, after.Status.Capacity))
		},
	}
}

func poolOfClass(_ context.Context, class client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: class.GetName()}}}
}

// poolsOfNode wakes up the pools that a node is in, was in, or carries something of, after settleTime.
func poolsOfNode() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(q queue, nodes ...client.Object) {
		for _, node := range nodes {
			for _, pool := range membership.Concerned(node) {
				q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: pool}}, settleTime)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { wake(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { wake(q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { wake(q, e.Object) },
	}
}
