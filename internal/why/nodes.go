// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// maxExamples is the most nodes that a sentence names.
const maxExamples = 3

// How sentences refer to nodes.
const (
	aNode       = "node"
	aReadyNode  = "ready node"
	aUsableNode = "ready and schedulable node"
)

// members are the nodes of a pool. Each list is sorted by name and a part of the one before.
type members struct {
	all, ready []*corev1.Node
	// synced carry the labels that the pool's RuntimeClass selects.
	synced []*corev1.Node
	// usable accept new pods.
	usable []*corev1.Node
}

func sortMembers(pool Pool) members {
	var m members
	for i := range pool.Nodes {
		if pool.Pool.Has(&pool.Nodes[i]) {
			m.all = append(m.all, &pool.Nodes[i])
		}
	}
	slices.SortFunc(m.all, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	m.ready = only(m.all, isReady)
	m.synced = only(m.ready, func(node *corev1.Node) bool { return isSynced(pool.Pool, node) })
	m.usable = only(m.synced, func(node *corev1.Node) bool { return !node.Spec.Unschedulable })
	return m
}

func only(nodes []*corev1.Node, holds func(*corev1.Node) bool) []*corev1.Node {
	var list []*corev1.Node
	for _, node := range nodes {
		if holds(node) {
			list = append(list, node)
		}
	}
	return list
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// unready says that a node is not ready, in the words of the kubelet, or of the controller that misses it.
func unready(node *corev1.Node) string {
	text := fmt.Sprintf("node %s is not ready", node.Name)
	at := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady && c.Message != "" })
	if at < 0 {
		return text
	}
	return text + ": " + node.Status.Conditions[at].Message
}

// isSynced reports whether the node carries the labels that the RuntimeClass of the pool selects.
func isSynced(pool *membership.Pool, node *corev1.Node) bool {
	if _, joined := node.Labels[cmp.Or(pool.Status.MemberLabel, pool.MemberLabel())]; !joined {
		return false
	}
	for key, value := range pool.Spec.Labels {
		if have, present := node.Labels[key]; !present || have != string(value) {
			return false
		}
	}
	return true
}

// noPlace looks for a reason why pods get no node.
func noPlace(pods Pods, pool Pool) *Cause {
	if hasRoom(pods, pool) {
		return nil
	}
	m := sortMembers(pool)
	for _, check := range []func(Pods, Pool, members) *Cause{noNode, noReadyNode, notSynced, cordoned, capacityShort} {
		if cause := check(pods, pool, m); cause != nil {
			return cause
		}
	}
	return nil
}

// noneReady looks for a reason why pods do not run on the nodes that they have.
func noneReady(pods Pods, pool Pool) *Cause {
	if hasRoom(pods, pool) {
		return nil
	}
	return noReadyNode(pods, pool, sortMembers(pool))
}

// hasRoom reports whether the nodes have room for all pods. It stops as soon as they do, which is early in a healthy pool.
func hasRoom(pods Pods, pool Pool) bool {
	size, have := Requests(pods.Spec), int64(0)
	for i := range pool.Nodes {
		node := &pool.Nodes[i]
		if !isReady(node) || !isSynced(pool.Pool, node) || node.Spec.Unschedulable || !pool.Pool.Has(node) {
			continue
		}
		if have += room(node, size); have >= int64(pods.Wanted) {
			return true
		}
	}
	return false
}

func noNode(_ Pods, pool Pool, m members) *Cause {
	return when(len(m.all) == 0, &Cause{
		Reason: appsv1alpha1.ReasonPoolHasNoNode, Text: fmt.Sprintf("pool %s has no nodes", pool.Name),
	})
}

func noReadyNode(_ Pods, pool Pool, m members) *Cause {
	if len(m.all) == 0 || len(m.ready) > 0 {
		return nil
	}
	return &Cause{
		Reason: appsv1alpha1.ReasonPoolHasNoReadyNode, Text: every(m.all, aNode, pool, "is not ready", "are not ready"),
	}
}

func notSynced(_ Pods, pool Pool, m members) *Cause {
	if len(m.synced) > 0 {
		return nil
	}
	return held(pool, &Cause{
		Reason: appsv1alpha1.ReasonPoolNodesNotSynced,
		Text:   every(m.ready, aReadyNode, pool, "lacks labels of the pool", "lack labels of the pool"),
	})
}

func cordoned(_ Pods, pool Pool, m members) *Cause {
	if len(m.usable) > 0 {
		return nil
	}
	singular, plural := "is cordoned", "are cordoned"
	if len(m.synced) < len(m.ready) {
		singular, plural = "that carries its labels is cordoned", "that carry its labels are cordoned"
	}
	return &Cause{Reason: appsv1alpha1.ReasonPoolCordoned, Text: every(m.synced, aReadyNode, pool, singular, plural)}
}

// handlerMissing applies if pods are on nodes without the handler, or if no node of the pool has it.
func handlerMissing(pods Pods, pool Pool) *Cause {
	condition := apimeta.FindStatusCondition(pool.Pool.Status.Conditions, nodesv1.ConditionHandlerAvailable)
	if condition == nil || condition.Status != metav1.ConditionFalse {
		return nil
	}
	m := sortMembers(pool)
	lacking := only(m.all, func(node *corev1.Node) bool { return lacksHandler(node, pool.Pool.Status.Handler) })
	hit := slices.ContainsFunc(lacking, func(node *corev1.Node) bool { return pods.PerNode[node.Name] > 0 })
	if len(lacking) == 0 || !hit && len(lacking) < len(m.all) {
		return nil
	}
	return &Cause{
		Reason: appsv1alpha1.ReasonPoolHandlerMissing,
		Text:   fmt.Sprintf("nodes of pool %s cannot start its pods: %s", pool.Name, condition.Message),
	}
}

// lacksHandler reports whether the node reports its handlers, and this one is not among them.
func lacksHandler(node *corev1.Node, handler string) bool {
	return len(node.Status.RuntimeHandlers) > 0 &&
		!slices.ContainsFunc(node.Status.RuntimeHandlers, func(h corev1.NodeRuntimeHandler) bool { return h.Name == handler })
}

// every states something about all of these nodes of a pool, and names some of them.
func every(nodes []*corev1.Node, called string, pool Pool, singular, plural string) string {
	names := make([]string, 0, len(nodes))
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	if len(names) == 1 {
		return fmt.Sprintf("the only %s of pool %s %s: %s", called, pool.Name, singular, names[0])
	}
	return fmt.Sprintf("all %d %ss of pool %s %s: %s", len(names), called, pool.Name, plural, examples(names))
}

func examples(names []string) string {
	if len(names) <= maxExamples {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxExamples], ", "), len(names)-maxExamples)
}
