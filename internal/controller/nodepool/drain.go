// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/membership"
)

const (
	// recheckDrain is when to look again at nodes that are being drained. Their pods are not watched.
	recheckDrain = 5 * time.Second
	// maxEvictions is how many pods of a node a pass evicts at most, so that a pass ends soon.
	maxEvictions = 10
)

// drains reports whether pods are evicted from the nodes that leave the pool.
func drains(pool *nodesv1.NodePool) bool {
	if pool.Spec.Drain == nil || pool.Spec.Drain.Policy != nodesv1.DrainEvict {
		return false
	}
	insisted := pool.Annotations[nodesv1.ForceDeleteAnnotation] == "true"
	orphans := pool.Spec.DeletionPolicy == nodesv1.DeletionOrphan
	return pool.DeletionTimestamp == nil || !insisted && !orphans
}

// mayLeave returns those of the nodes that left which may lose what they carry: all of them, or those that are drained.
func mayLeave(pool *nodesv1.NodePool, nodes census) []string {
	if !drains(pool) {
		return nodes.leaving
	}
	return slices.DeleteFunc(slices.Clone(nodes.leaving), func(name string) bool {
		return !slices.ContainsFunc(pool.Status.Draining, func(d nodesv1.DrainingNode) bool { return d.Drained && d.Node == name })
	})
}

// drain evicts the pods of the pool from the nodes that left it. A node is entered in the status first: the node controller takes
// the membership off it, and only then are pods evicted, so that they cannot come back to where they were.
func (r *Reconciler) drain(ctx context.Context, s *scope) flow.Outcome {
	if !drains(s.pool) {
		s.pool.Status.Draining = nil
		return flow.Done()
	}
	var draining []nodesv1.DrainingNode
	for _, entry := range s.pool.Status.Draining {
		kept, err := r.drainNode(ctx, s, &entry)
		if err != nil {
			return flow.Fail(err)
		}
		if kept {
			draining = append(draining, entry)
		}
	}
	s.pool.Status.Draining = beginDrains(s, draining, r.now())
	r.clearLeavers(s)
	if len(undrained(s.pool)) > 0 {
		s.comeBack(nodesv1.ReasonDraining, "nodes that left the pool to be drained", recheckDrain)
	}
	return flow.Done()
}

// beginDrains enters the nodes that left and are not being drained yet, as long as there is room, unless the brake holds them.
func beginDrains(s *scope, draining []nodesv1.DrainingNode, now time.Time) []nodesv1.DrainingNode {
	if s.pool.DeletionTimestamp == nil && braked(s.pool, s.seen.nodes) {
		return draining
	}
	for _, name := range s.seen.nodes.leaving {
		uid := s.seen.nodes.uids[name]
		known := slices.ContainsFunc(draining, func(d nodesv1.DrainingNode) bool { return d.UID == uid })
		if !known && len(draining) < nodesv1.MaxDraining {
			draining = append(draining, nodesv1.DrainingNode{Node: name, UID: uid, StartTime: metav1.NewTime(now.Truncate(time.Second))})
		}
	}
	slices.SortFunc(draining, func(a, b nodesv1.DrainingNode) int { return cmp.Compare(a.Node, b.Node) })
	return draining
}

// drainNode goes on with one node and reports whether its entry is still needed.
func (r *Reconciler) drainNode(ctx context.Context, s *scope, entry *nodesv1.DrainingNode) (bool, error) {
	node := &corev1.Node{}
	err := r.client.Get(ctx, client.ObjectKey{Name: entry.Node}, node)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	_, left := slices.BinarySearch(s.seen.nodes.leaving, entry.Node)
	_, member := slices.BinarySearch(s.seen.nodes.memberNodes, entry.Node)
	_, selectable := node.Labels[nodesv1.MemberLabel(s.pool.Name)]
	switch {
	case node.UID != entry.UID, member && s.pool.DeletionTimestamp == nil:
		return false, nil
	case entry.Drained:
		return left || membership.Carries(node, s.pool.Name), nil
	case selectable: // new pods of the pool would still come
		return true, nil
	}
	pods, err := r.podsToDrain(ctx, s.pool.Name, entry.Node)
	if err != nil {
		return false, err
	}
	entry.PodsLeft = clampInt32(len(pods))
	switch {
	case len(pods) == 0:
		entry.Drained, entry.Blocked = true, nil
	case overdue(s.pool.Spec.Drain, entry, r.now()):
		entry.Drained, entry.Blocked = true, nil
		s.events = append(s.events, drainTimedOut(s.pool, node, len(pods)))
	default:
		return true, r.evict(ctx, s, entry, pods)
	}
	return true, nil
}

func overdue(drain *nodesv1.Drain, entry *nodesv1.DrainingNode, now time.Time) bool {
	seconds := int32(nodesv1.DefaultDrainTimeoutSeconds)
	if drain.TimeoutSeconds != nil {
		seconds = *drain.TimeoutSeconds
	}
	return seconds > 0 && !now.Before(entry.StartTime.Add(time.Duration(seconds)*time.Second))
}

// podsToDrain returns the pods on the node that chose the pool and have not ended, those first that nobody has asked to go. It reads
// past the cache, which does not hold them.
func (r *Reconciler) podsToDrain(ctx context.Context, pool, node string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := r.live.List(ctx, list, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return nil, fmt.Errorf("cannot list the pods on node %q: %w", node, err)
	}
	pods := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !chose(&pod, pool) || ended(&pod) || stays(&pod) })
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return pods, nil
}

// stays reports whether evicting the pod would be in vain: its DaemonSet, or the kubelet, would start it again.
func stays(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	owner := metav1.GetControllerOf(pod)
	return mirror || owner != nil && owner.Kind == "DaemonSet"
}

// evict asks the API server to evict the pods, those last that it refused the last time. What it refuses now is noted and asked for
// again later; the refusal of one is no reason not to ask for the others.
func (r *Reconciler) evict(ctx context.Context, s *scope, entry *nodesv1.DrainingNode, pods []corev1.Pod) error {
	refused := entry.Blocked
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Compare(one(slices.Contains(refused, podName(&a))), one(slices.Contains(refused, podName(&b))))
	})
	entry.Blocked = nil
	asked, evicted := 0, 0
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || asked == maxEvictions {
			continue
		}
		asked++
		err := r.evictPod(ctx, pod)
		switch {
		case err == nil:
			evicted++
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // gone, or another pod of that name by now
		case ctx.Err() != nil:
			return fmt.Errorf("cannot evict pod %q: %w", podName(pod), err)
		default:
			entry.Blocked = append(entry.Blocked, podName(pod))
		}
	}
	slices.Sort(entry.Blocked)
	if evicted > 0 {
		s.events = append(s.events, podsEvicted(s.pool, entry.Node, evicted))
	}
	return nil
}

func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// undrained returns the entries of the nodes that are still being drained.
func undrained(pool *nodesv1.NodePool) []nodesv1.DrainingNode {
	return slices.DeleteFunc(slices.Clone(pool.Status.Draining), func(d nodesv1.DrainingNode) bool { return d.Drained })
}

// drained returns the names of the nodes that are done, sorted.
func drained(pool *nodesv1.NodePool) []string {
	var names []string
	for i := range pool.Status.Draining {
		if pool.Status.Draining[i].Drained {
			names = append(names, pool.Status.Draining[i].Node)
		}
	}
	return names
}
