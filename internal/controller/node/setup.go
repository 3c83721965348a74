// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
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
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The index of kube.IndexNodes has to be registered before.
func (r *Reconciler) SetupWithManager(_ context.Context, mgr manager.Manager, workers int) error {
	return builder.ControllerManagedBy(mgr).
		Named("node").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		// The handlers read the cache itself: the client would make them wait for the workers' writes.
		Watches(&nodesv1.NodePool{}, nodesOfPool(mgr.GetCache()), builder.WithPredicates(poolChanged())).
		Watches(&nodesv1.NodePool{}, kube.Deleted(dropMetrics)).
		WatchesRawSource(&r.clearances.Wakeups).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true), RateLimiter: flow.Backoff()}).
		Complete(tracing.Passes("node", r))
}

// nodeChanged lets through what can change a plan: labels, annotations, taints and addresses. Everything else that happens to
// a node, its heartbeat above all, does not concern this controller. The end of a node passes: its pass finds none, and forgets what is kept about it.
func nodeChanged() predicate.Predicate {
	return kube.Updates(func(before, after *corev1.Node) bool {
		return !maps.Equal(before.Labels, after.Labels) ||
			!maps.Equal(before.Annotations, after.Annotations) ||
			!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
			!slices.Equal(before.Status.Addresses, after.Status.Addresses)
	})
}

// poolChanged lets through what can change a plan: the spec, the ledger, the originals, the finalizers, pausing, deletion,
// the nodes of the present batch, and drains. The rest of the status reports on this controller's work. That nodes may leave is not
// in the status: a clearance wakes them.
func poolChanged() predicate.Predicate {
	return kube.Updates(changedForAll, func(before, after *nodesv1.NodePool) bool { return len(changedFor(before, after)) > 0 })
}

// changedForAll reports whether every node of the pool may be concerned.
func changedForAll(before, after *nodesv1.NodePool) bool {
	return kube.Declared(before, after) || kube.PoolCommitted(before, after)
}

// changedFor returns the names of those nodes that have come into the batch, or whose drain has begun or ended.
func changedFor(before, after *nodesv1.NodePool) []string {
	had, has := mentioned(before), mentioned(after)
	var names []string
	for key := range has {
		if !had[key] {
			names = append(names, key.node)
		}
	}
	for key := range had {
		if key.draining && !has[key] {
			names = append(names, key.node)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mention is what a pool's status says about one node: it is in the batch, or it is being drained.
type mention struct {
	node     string
	draining bool
}

func mentioned(pool *nodesv1.NodePool) map[mention]bool {
	out := map[mention]bool{}
	if pool.Status.Rollout != nil {
		for _, node := range pool.Status.Rollout.Nodes {
			out[mention{node: node}] = true
		}
	}
	for i := range pool.Status.Draining {
		if !pool.Status.Draining[i].Drained {
			out[mention{node: pool.Status.Draining[i].Node, draining: true}] = true
		}
	}
	return out
}

// nodesOfPool wakes up the nodes that a change of a pool concerns: all of its nodes, or those that its status mentions.
func nodesOfPool(cached client.Reader) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, q queue, pools ...client.Object) {
		for _, pool := range pools {
			for _, request := range nodesOf(ctx, cached, pool) {
				q.Add(request)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if pool, ok := e.Object.(*nodesv1.NodePool); !ok || !begins(pool) {
				wake(ctx, q, e.Object)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, ok := e.ObjectOld.(*nodesv1.NodePool)
			after, isPool := e.ObjectNew.(*nodesv1.NodePool)
			switch {
			case !ok || !isPool:
			case begins(after): // nobody can follow yet, and the change that lets them wakes them up
				return
			case changedForAll(before, after):
				if !sameNodes(before, after) {
					wake(ctx, q, before)
				}
				wake(ctx, q, after)
				return
			}
			for _, name := range changedFor(before, after) {
				q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
			}
		},
	}
}

// begins reports whether a pool is new and has not yet written down what it may put on nodes.
func begins(pool *nodesv1.NodePool) bool {
	return pool.DeletionTimestamp == nil && len(pool.Status.Ledger.Labels) == 0 && !status.IsPaused(pool) && !pool.Spec.DryRun
}

// sameNodes reports whether both versions of a pool choose their nodes in the same way. A node that shows a pool is found by its name alone.
func sameNodes(before, after *nodesv1.NodePool) bool {
	return before.UID == after.UID &&
		equality.Semantic.DeepEqual(before.Spec.NodeSelector, after.Spec.NodeSelector) &&
		slices.Equal(before.Spec.NodeCIDRs, after.Spec.NodeCIDRs)
}

// nodesOf returns the nodes that are in the pool or carry something of it.
func nodesOf(ctx context.Context, cached client.Reader, object client.Object) []reconcile.Request {
	pool, ok := object.(*nodesv1.NodePool)
	if !ok {
		return nil
	}
	prepared, _ := membership.NewPool(pool) // a malformed selector selects no node
	nodes, err := kube.Nodes(ctx, cached, prepared)
	if err != nil {
		// A list from the cache fails only when the cache is being stopped.
		log.FromContext(ctx).Error(err, "Cannot wake up the nodes of a pool", "pool", pool.Name)
		return nil
	}
	requests := make([]reconcile.Request, 0, len(nodes))
	for i := range nodes {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&nodes[i])})
	}
	return requests
}
