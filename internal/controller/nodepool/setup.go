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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/tracing"
)

const (
	// recheckRelease is when to look again after the API server knew of a node that the cache did not, or a node was being written for a former version
	// of the pool.
	recheckRelease = time.Second
	// recountPods is when to count again the pods that keep a pool from being deleted, or that a pool in dry run would evict. They are not watched.
	recountPods = 15 * time.Second
)

// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/status,verbs=patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingadmissionpolicies;mutatingadmissionpolicybindings;validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The index of kube.IndexNodes has to be registered before.
func (r *Reconciler) SetupWithManager(_ context.Context, mgr manager.Manager, workers int) error {
	// The handlers read the cache itself: the client would make them wait for the workers' writes.
	r.cache = mgr.GetCache()
	controlled := builder.ControllerManagedBy(mgr).
		Named("nodepool").
		For(&nodesv1.NodePool{}, builder.WithPredicates(poolChanged())).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(poolOfClass)).
		Watches(&corev1.Node{}, r.poolsOfNode(), builder.WithPredicates(nodeChanged())).
		Watches(&nodesv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(r.neighboursOf), builder.WithPredicates(neighbourChanged())).
		WatchesRawSource(&r.drains.Wakeups).
		WatchesRawSource(&r.wakeups).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)})
	support, err := admission.Supported(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	for _, kind := range admission.Kinds() {
		if support.Has(kind) {
			controlled.Watches(admission.Ref{Kind: kind}.Live(), handler.EnqueueRequestsFromMapFunc(r.poolsOfPolicy))
		}
	}
	return controlled.Complete(tracing.Passes("nodepool", r))
}

// poolsOfPolicy maps a policy or binding to its pool, and one that serves all pools to all of them.
func (r *Reconciler) poolsOfPolicy(ctx context.Context, object client.Object) []reconcile.Request {
	if pool := admission.PoolOf(object); pool != "" {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: pool}}}
	}
	list := &nodesv1.NodePoolList{}
	shared := metav1.GetControllerOf(object) == nil && admission.IsShared(object.GetName())
	if !shared || r.cache.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
	}
	return requests
}

// poolChanged lets through everything but the parts of the status that this controller alone writes from what it sees. The
// ledger and the originals pass, because they decide the next step. The end of a pool passes, because nothing else tells of the end of one
// that never had a finalizer: its pass finds no pool, and forgets what is kept about it.
func poolChanged() predicate.Predicate {
	return kube.Updates(kube.Declared, kube.PoolCommitted, func(before, after *nodesv1.NodePool) bool {
		return !maps.Equal(before.Annotations, after.Annotations)
	})
}

// nodeChanged lets through what a pool counts. It is wider than what decides a node's labels and taints: readiness,
// resources and runtime handlers too.
func nodeChanged() predicate.Predicate {
	return kube.Updates(func(before, after *corev1.Node) bool {
		return !maps.Equal(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
			!maps.Equal(before.Annotations, after.Annotations) ||
			!slices.Equal(before.Status.Addresses, after.Status.Addresses) ||
			!equality.Semantic.DeepEqual(before.Status.RuntimeHandlers, after.Status.RuntimeHandlers) ||
			isReady(before) != isReady(after) ||
			!equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) ||
			!equality.Semantic.DeepEqual(before.Status.Capacity, after.Status.Capacity)
	})
}

func poolOfClass(_ context.Context, class client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: class.GetName()}}}
}

// poolsOfNode wakes the pools that a node is in, was in, or carries something of, and those that the node does not show, once changes
// have been collected for a while.
func (r *Reconciler) poolsOfNode() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, q queue, versions ...client.Object) {
		for _, pool := range r.poolsOf(ctx, versions) {
			q.AddAfter(reconcile.Request{NamespacedName: types.NamespacedName{Name: pool}}, r.pace.settle(pool))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { wake(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}

// poolsOf returns the pools that exist and are concerned with one of the versions of a node. Its kubelet writes the record, and can name
// thousands in it.
func (r *Reconciler) poolsOf(ctx context.Context, versions []client.Object) []string {
	list := &nodesv1.NodePoolList{}
	if r.cache.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
		return nil
	}
	var names []string
	pools := r.prepared.Pools(list)
	for _, version := range versions {
		node, ok := version.(*corev1.Node)
		if !ok {
			continue
		}
		shown := membership.Concerned(node)
		for name, pool := range pools {
			if _, shows := slices.BinarySearch(shown, name); shows || unshown(pool, node) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unshown reports whether the pool is concerned with the node though nothing on the node shows it. The pool drains the node, which may have lost
// all that it had. Or it selects the node, which has got nothing of it yet: the pool is in dry run or paused and counts it, the node waits for a batch,
// which only a pass over the pool begins, or the API server refuses every patch of the node.
func unshown(pool *membership.Pool, node *corev1.Node) bool {
	if slices.ContainsFunc(pool.Status.Draining, func(d nodesv1.DrainingNode) bool { return d.Node == node.Name }) {
		return true
	}
	return pool.Selects() && pool.Concerns(node)
}
