// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// maxEvictions is how many pods of a node a pass evicts at most for a pool, so that a pass ends soon.
const maxEvictions = 10

// drain is a node's entry in the status of a pool.
type drain struct {
	pool  *nodesv1.NodePool
	entry nodesv1.DrainingNode
	// class is the RuntimeClass with the pool's name, nil if there is none. It can belong to another owner.
	class *nodev1.RuntimeClass
	// asked are the pods that were there when this process first could ask for them, and whether it has.
	asked map[types.UID]bool
}

// key returns the drain as its progress is reported.
func (d drain) key() clearance.Drain {
	return clearance.Drain{Pool: d.pool.Name, Node: d.entry.UID, Start: d.entry.StartTime.Time}
}

// step is what a pass does for one drain.
type step struct {
	drain

	// evict are the pods to evict, in this order.
	evict []*corev1.Pod
	// blocked are those whose eviction was refused before, and that are not asked for now.
	blocked []string
	// progress is how far the drain has come before that.
	progress clearance.Progress
}

// due returns the drains that the node is ready for, sorted by pool. While the node has a member label of a pool, new pods of the pool
// would still come, so evicting the old ones would be in vain.
func due(node *corev1.Node, pools *nodesv1.NodePoolList) []drain {
	var list []drain
	for i := range pools.Items {
		pool := &pools.Items[i]
		if membership.HasJoined(node, pool.Name) || !drains(pool, node) {
			continue
		}
		for _, entry := range pool.Status.Draining {
			if entry.UID == node.UID && !entry.Drained {
				list = append(list, drain{pool: pool, entry: entry})
			}
		}
	}
	slices.SortFunc(list, func(a, b drain) int { return cmp.Compare(a.pool.Name, b.pool.Name) })
	return list
}

// drains reports whether the pool drains the node: not while it is held, and not one that is a member again.
func drains(pool *nodesv1.NodePool, node *corev1.Node) bool {
	switch {
	case !membership.Evicts(pool):
		return false
	case pool.DeletionTimestamp != nil:
		return true
	case status.IsPaused(pool) || pool.Spec.DryRun:
		return false
	}
	prepared, err := membership.NewPool(pool)
	return err == nil && !prepared.Has(node)
}

// plan returns what to do for each drain of the node. The result depends on nothing but the arguments.
func plan(seen observation, now time.Time) []step {
	var steps []step
	for _, d := range seen.drains {
		left := d.podsToEnd(seen.pods)
		next, toAsk := step{drain: d, progress: clearance.Progress{PodsLeft: len(left)}}, left
		if overdue(d, now) { // maybe while nobody could ask
			toAsk = d.unasked(left)
		}
		switch {
		case len(left) == 0:
			next.progress.Done = true
		case len(toAsk) == 0:
			next.progress.Done, next.progress.TimedOut = true, true
		default:
			next.evict = nextToEvict(toAsk, d.entry.Blocked)
			next.blocked = stillBlocked(left, next.evict, d.entry.Blocked)
		}
		steps = append(steps, next)
	}
	return steps
}

// podsToEnd returns the pods that chose the pool and have not ended, sorted by name. Pods that their
// DaemonSet or the kubelet would start again on this node stay.
func (d drain) podsToEnd(pods []corev1.Pod) []*corev1.Pod {
	var left []*corev1.Pod
	for i := range pods {
		if pod := &pods[i]; membership.Chose(pod, d.pool, d.class) && !membership.Ended(pod) && !stays(pod) {
			left = append(left, pod)
		}
	}
	slices.SortFunc(left, func(a, b *corev1.Pod) int { return cmp.Compare(podName(a), podName(b)) })
	return left
}

func stays(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	owner := metav1.GetControllerOf(pod)
	return mirror || owner != nil && owner.Kind == "DaemonSet"
}

// overdue reports whether the drain has lasted as long as the pool allows.
func overdue(d drain, now time.Time) bool {
	seconds := int32(nodesv1.DefaultDrainTimeoutSeconds)
	if d.pool.Spec.Drain.TimeoutSeconds != nil {
		seconds = *d.pool.Spec.Drain.TimeoutSeconds
	}
	return seconds > 0 && !now.Before(d.entry.StartTime.Add(time.Duration(seconds)*time.Second))
}

// unasked returns those of the pods that the drain has still to ask for once.
func (d drain) unasked(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		asked, known := d.asked[pod.UID]
		return asked || !known || pod.DeletionTimestamp != nil
	})
}

// nextToEvict returns the pods to ask for: not those that are about to go, and those last whose eviction was refused the last time, so
// that they do not hold up others. A pass goes on after the last one that was refused: the status keeps only the refusals of one pass, so without that two
// groups of refused pods would take turns, and no other pod would be asked for.
func nextToEvict(pods []*corev1.Pod, refused []string) []*corev1.Pod {
	pods = slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	last := ""
	if len(refused) > 0 {
		last = slices.Max(refused)
	}
	rank := func(pod *corev1.Pod) int {
		switch name := podName(pod); {
		case slices.Contains(refused, name):
			return 2
		case name < last:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(rank(a), rank(b)) })
	return pods[:min(len(pods), maxEvictions)]
}

// stillBlocked returns the pods that were refused, are still there, and are not asked for now.
func stillBlocked(left, asked []*corev1.Pod, refused []string) []string {
	has := func(pods []*corev1.Pod, name string) bool {
		return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return podName(pod) == name && pod.DeletionTimestamp == nil })
	}
	return slices.DeleteFunc(slices.Clone(refused), func(name string) bool { return !has(left, name) || has(asked, name) })
}

func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
