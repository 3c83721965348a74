// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// pageSize is how many pods are read at a time.
const pageSize = 500

// observation is what a pass sees of the cluster around a pool.
type observation struct {
	// runtimeClass is the RuntimeClass of the pool's name, nil if there is none.
	runtimeClass *nodev1.RuntimeClass
	// nodes sums up the pool's nodes.
	nodes aggregate
	// draining are the nodes that are being drained, as the status lists them.
	draining []draining
	// consent is what is remembered of the acknowledgement.
	consent consent
	// lastTurn is the last node of the last batch of a rollout, empty if it is not known.
	lastTurn string
	// podsToEvict is how many running pods the taints delete that are about to be put on nodes.
	podsToEvict int32
	// users is how many running pods name a pool that is being deleted, where it has to wait for them, and userNames are the first of them.
	users     int32
	userNames []string
	// recount is when to count pods again that were counted in an earlier pass, 0 where they have been counted now.
	recount time.Duration
	// outrun is true where a node is being written for another version of the pool: a key that the pool does not want any more may come to it.
	outrun bool
	// unseen is true where the API server knows of a node with a member label of the pool and the cache does not. It is only asked about
	// a pool that is being deleted.
	unseen bool
}

// observe reads what there is of the pool and decides what to do about it. A selector that cannot be understood stops everything but
// the deletion of the pool: which nodes carry something of it can be told without the selector.
func (r *Reconciler) observe(ctx context.Context, s *scope) flow.Outcome {
	list := &nodesv1.NodePoolList{}
	if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil { // nothing below changes a pool but its own copy
		return flow.Fail(fmt.Errorf("cannot list pools: %w", err))
	}
	pools := maps.Clone(r.prepared.Pools(list))
	pool, malformed := membership.NewPool(s.Object.DeepCopy()) // what is remembered of it must not change with the rest of the pass
	pools[pool.Name] = pool
	seen, err := r.look(ctx, pool, pools, s.Now)
	if err != nil {
		return flow.Fail(err)
	}
	s.seen = seen
	s.LookAgain(seen.recount)
	if seen.outrun {
		s.LookAgain(recheckRelease)
	}
	r.meet(pool.Name, seen.nodes)
	s.Tell(counted(s.Object, seen)...)
	s.decided = decide(s.Object, seen, s.Now)
	s.Object.Status.Originals = noteOriginals(s.Object, seen.nodes)
	r.pace.keep(pool.Name, due(s.Object, seen, s.decided))
	if malformed != nil && s.Object.DeletionTimestamp == nil {
		return flow.Stall(nodesv1.ReasonInvalidSelector, malformed)
	}
	return flow.Done()
}

// look reads the RuntimeClass and the nodes from the cache, and pods past it where their number matters.
func (r *Reconciler) look(ctx context.Context, pool *membership.Pool, pools membership.Pools, now time.Time) (*observation, error) {
	seen := &observation{consent: r.consents.recall(pool.NodePool), lastTurn: r.turns.recall(pool.NodePool)}
	// This comes before the nodes are listed: what has ended by now, the list waits for.
	seen.outrun = r.clearances.Writes.Others(clearance.Version{Pool: pool.Name, UID: pool.UID, Generation: pool.Generation})
	class := &nodev1.RuntimeClass{}
	switch err := r.client.Get(ctx, client.ObjectKey{Name: pool.Name}, class); {
	case err == nil:
		seen.runtimeClass = class
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("cannot read RuntimeClass %q: %w", pool.Name, err)
	}
	nodes, err := kube.Nodes(ctx, r.client, pool)
	if err != nil {
		return nil, err
	}
	if seen.nodes, err = r.memory.aggregate(pool.Name, nodes, pools); err != nil {
		return nil, err
	}
	if seen.draining, err = r.lookAtDrains(ctx, pool.NodePool); err != nil {
		return nil, err
	}
	if pool.DeletionTimestamp != nil {
		return seen, r.lookForUsers(ctx, pool.NodePool, seen, now)
	}
	return seen, r.lookForEvicted(ctx, pool, seen, now)
}

// lookForEvicted counts the pods that new taints would delete. While the pool holds, or cannot go on, the taints stay new, and only people look at the
// number. One that no longer holds counts for itself before it goes on.
func (r *Reconciler) lookForEvicted(ctx context.Context, pool *membership.Pool, seen *observation, now time.Time) error {
	taints := evicting(pool.NodePool, seen.nodes)
	if len(taints) == 0 {
		return nil
	}
	counted := fmt.Sprintf("generation %d, holding %t", pool.Generation, pool.Holds())
	if left, last := r.podCounts.recall(pool.Name, counted, now); left > 0 {
		seen.podsToEvict, seen.recount = last.pods, left
		return nil
	}
	var err error
	if seen.podsToEvict, err = r.podsToEvict(ctx, taints); err != nil {
		return err
	}
	r.podCounts.keep(pool.Name, podCount{counted: counted, pods: seen.podsToEvict, at: now})
	return nil
}

// evicting returns the taints, by node, that delete running pods and that are about to be put there: those that are new to the pool, and in a dry run
// also those that the pool would put on further nodes.
func evicting(pool *nodesv1.NodePool, nodes aggregate) map[string][]nodesv1.Taint {
	if nodes.preview != nil {
		return nodes.preview.evicting
	}
	taints := membership.Evicting(pool)
	if len(taints) == 0 {
		return nil
	}
	out := make(map[string][]nodesv1.Taint, len(nodes.memberNodes))
	for _, name := range nodes.memberNodes {
		out[name] = taints
	}
	return out
}

// lookAtDrains reads the nodes that the status lists as being drained, and what was reported about them.
func (r *Reconciler) lookAtDrains(ctx context.Context, pool *nodesv1.NodePool) ([]draining, error) {
	var list []draining
	for _, entry := range pool.Status.Draining {
		node := &corev1.Node{}
		err := r.client.Get(ctx, client.ObjectKey{Name: entry.Node}, node, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("cannot read node %q: %w", entry.Node, err)
		}
		d := draining{entry: entry, gone: err != nil || node.UID != entry.UID, carries: membership.Carries(node, pool.Name)}
		d.progress, d.reported = r.drains.Progress(clearance.Drain{Pool: pool.Name, Node: entry.UID, Start: entry.StartTime.Time})
		list = append(list, d)
	}
	return list, nil
}

// lookForUsers counts the pods that a pool which is being deleted has to wait for, and asks the API server itself whether a node still
// has a member label: a cache may be behind, and nobody would clean up after a pool that is gone.
func (r *Reconciler) lookForUsers(ctx context.Context, pool *nodesv1.NodePool, seen *observation, now time.Time) error {
	if waitsForUsers(pool) {
		if err := r.countUsers(ctx, pool, seen, now); err != nil {
			return err
		}
	}
	for _, label := range nodesv1.MemberLabels(pool.Name) {
		nodes := &metav1.PartialObjectMetadataList{}
		nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
		if err := r.live.List(ctx, nodes, client.HasLabels{label}, client.Limit(1)); err != nil {
			return fmt.Errorf("cannot look for nodes of pool %q: %w", pool.Name, err)
		}
		seen.unseen = seen.unseen || len(nodes.Items) > 0
	}
	return nil
}

// countUsers counts the pods that keep the pool. A count of zero is never remembered: the pass that lets nodes go counts for itself.
func (r *Reconciler) countUsers(ctx context.Context, pool *nodesv1.NodePool, seen *observation, now time.Time) error {
	const counted = "users"
	if left, last := r.podCounts.recall(pool.Name, counted, now); left > 0 && last.pods > 0 {
		seen.users, seen.userNames, seen.recount = last.pods, last.names, left
		return nil
	}
	var err error
	if seen.users, seen.userNames, err = r.podsInUse(ctx, pool, seen.runtimeClass); err != nil {
		return err
	}
	r.podCounts.keep(pool.Name, podCount{counted: counted, pods: seen.users, names: seen.userNames, at: now})
	return nil
}

// Gone reports whether the API server itself has none of these pools. The names may come from the record of a node, which its kubelet can write: one
// list answers for however many.
func (r *Reconciler) Gone(ctx context.Context, names []string) (bool, error) {
	pools := &metav1.PartialObjectMetadataList{}
	pools.SetGroupVersionKind(nodesv1.SchemeGroupVersion.WithKind("NodePoolList"))
	if err := r.live.List(ctx, pools); err != nil {
		return false, fmt.Errorf("cannot list pools past the cache: %w", err)
	}
	return !slices.ContainsFunc(pools.Items, func(p metav1.PartialObjectMetadata) bool { return slices.Contains(names, p.Name) }), nil
}

// podsToEvict counts the running pods that do not tolerate the taints of their nodes.
func (r *Reconciler) podsToEvict(ctx context.Context, taints map[string][]nodesv1.Taint) (int32, error) {
	var evicted int32
	err := r.eachRunningPod(ctx, func(pod *corev1.Pod) {
		if !membership.ToleratesAll(pod, taints[pod.Spec.NodeName]) {
			evicted++
		}
	})
	return evicted, err
}

// podsInUse counts the running pods that chose the pool, and returns the first of their names.
func (r *Reconciler) podsInUse(ctx context.Context, pool *nodesv1.NodePool, class *nodev1.RuntimeClass) (users int32, names []string, err error) {
	err = r.eachRunningPod(ctx, func(pod *corev1.Pod) {
		if membership.Chose(pod, pool, class) {
			users++
			names = append(names, pod.Namespace+"/"+pod.Name)
			slices.Sort(names)
			names = names[:min(len(names), maxUsers)]
		}
	})
	return users, names, err
}

// eachRunningPod reads the pods past the cache, page by page: they are worth the memory only while they are counted.
func (r *Reconciler) eachRunningPod(ctx context.Context, visit func(*corev1.Pod)) error {
	list := &corev1.PodList{}
	for {
		err := r.live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue))
		if err != nil {
			return fmt.Errorf("cannot list pods: %w", err)
		}
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Spec.NodeName != "" && !membership.Ended(pod) && pod.DeletionTimestamp == nil {
				visit(pod)
			}
		}
		if list.Continue == "" {
			return nil
		}
	}
}
