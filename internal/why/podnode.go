// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// stage is a check that leaves some of the nodes.
type stage struct {
	asks CheckID
	// keeps reports whether the node is left.
	keeps func(*corev1.Node) bool
	// blame says why none of the nodes is left, which there are.
	blame func([]*corev1.Node) *finding
}

// findNode looks for nodes that the pod can use: each check leaves some of them, and the one that leaves none has found the cause.
func (w *podWalk) findNode() {
	stages := w.stages()
	if because := cmp.Or(w.around.Unseen[PartNodes], w.poolUnseen()); because != "" {
		for _, s := range stages {
			w.skip(s.asks, because)
		}
		return
	}
	nodes := w.nodes()
	for i, s := range stages {
		if because := w.around.Unseen[PartPods]; because != "" && i == len(stages)-1 {
			w.skip(s.asks, because) // what other pods request
			return
		}
		left := nodes
		w.check(s.asks, func() *finding {
			if left = only(nodes, s.keeps); len(left) > 0 {
				return nil
			}
			return s.blame(nodes)
		})
		w.note(fmt.Sprintf("%d of %d nodes", len(left), len(nodes)))
		nodes = left
	}
}

// nodes returns all nodes by name.
func (w *podWalk) nodes() []*corev1.Node {
	return slices.SortedFunc(slices.Values(w.around.Nodes), func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
}

func (w *podWalk) poolUnseen() string {
	if w.pool == "" {
		return ""
	}
	return w.around.Unseen[PartPool]
}

// stages are the checks in their order. Those up to the taints are the same that the scheduler makes, in the order in which an
// engineer fixes them.
func (w *podWalk) stages() []stage {
	out := w.clusterStages()
	if w.pool != "" {
		out = w.poolStages()
	}
	size := Requests(&w.pod.Spec)
	affinity := nodeaffinity.GetRequiredNodeAffinity(w.pod)
	tolerates := func(node *corev1.Node) bool { return w.untolerated(node) == nil }
	matches := func(node *corev1.Node) bool {
		match, err := affinity.Match(node)
		return match && err == nil
	}
	// whole and ready are all nodes of the cluster or the pool, and those that are ready.
	whole := func() []*corev1.Node { return only(w.nodes(), out[0].keeps) }
	ready := func() []*corev1.Node { return only(whole(), w.ready) }
	selected := stage{checkNodeSelected, matches, func(nodes []*corev1.Node) *finding {
		// Those that are not ready have been sorted out before. If the pod asks for one of them, its selector is not what is wrong.
		down := func(node *corev1.Node) bool { return !w.ready(node) && matches(node) }
		if unready := only(whole(), down); len(unready) > 0 {
			return w.selectedUnready(unready)
		}
		return w.unselected(nodes, whole())
	}}
	return append(slices.Clip(out), selected,
		stage{checkNodeSchedulable, w.open, func(nodes []*corev1.Node) *finding { return w.allCordoned(nodes, ready()) }},
		stage{checkTaintsTolerated, tolerates, func(nodes []*corev1.Node) *finding { return w.allTainted(nodes, whole()) }},
		stage{checkNodeLargeEnough, func(node *corev1.Node) bool { return fits(size, node.Status.Allocatable) == "" }, func(nodes []*corev1.Node) *finding {
			return w.tooLarge(size, nodes)
		}},
		stage{checkNodeHasRoom, func(node *corev1.Node) bool { return fits(size, w.free(node)) == "" }, func(nodes []*corev1.Node) *finding {
			return w.noRoom(size, nodes)
		}},
	)
}

// clusterStages begin with all nodes.
func (w *podWalk) clusterStages() []stage {
	return []stage{
		{checkClusterHasNodes, func(*corev1.Node) bool { return true }, func([]*corev1.Node) *finding {
			return &finding{code: CodeNoNodes, message: "the cluster has no nodes"}
		}},
		{checkClusterNodeReady, w.ready, func(nodes []*corev1.Node) *finding {
			return &finding{code: CodeNoReadyNode, message: all(nodes, aNode, "is not ready", "are not ready"), evidence: w.quote(notReady(nodes[0]))}
		}},
	}
}

// poolStages begin with the members of the pool that the pod has chosen.
func (w *podWalk) poolStages() []stage {
	pool := Pool{Name: w.pool}
	if w.around.Pool == nil {
		return nil // an earlier check has failed
	}
	pool.Pool, _ = membership.NewPool(w.around.Pool)
	return []stage{
		{checkPoolHasNodes, pool.Pool.Has, func([]*corev1.Node) *finding {
			return w.missing(noNode(Pods{}, pool, members{}), fact(kindPool, w.around.Pool, "status.nodeCount", strconv.Itoa(int(w.around.Pool.Status.NodeCount))))
		}},
		{checkPoolNodeReady, w.ready, func(nodes []*corev1.Node) *finding {
			return w.missing(noReadyNode(Pods{}, pool, members{all: nodes}), w.quote(notReady(nodes[0]))...)
		}},
		{checkPoolNodeLabelled, func(node *corev1.Node) bool { return isSynced(pool.Pool, node) }, func(nodes []*corev1.Node) *finding {
			return w.missing(notSynced(Pods{}, pool, members{ready: nodes}), w.quote(fact(kindNode, nodes[0], "metadata.labels", labelsOf(nodes[0])))...)
		}},
	}
}

// ready reports whether the node is ready, or the pod tolerates that it is not.
func (w *podWalk) ready(node *corev1.Node) bool {
	return isReady(node) || w.tolerates(&corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
}

// open reports whether the node accepts new pods, or the pod tolerates that it does not.
func (w *podWalk) open(node *corev1.Node) bool {
	return !node.Spec.Unschedulable || w.tolerates(&corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
}

func (w *podWalk) tolerates(taint *corev1.Taint) bool {
	return schedulinghelpers.TolerationsTolerateTaint(logr.Discard(), w.pod.Spec.Tolerations, taint, false)
}

// untolerated returns a taint of the node that keeps the pod away, nil for none.
func (w *podWalk) untolerated(node *corev1.Node) *corev1.Taint {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !w.tolerates(taint) {
			return taint
		}
	}
	return nil
}

func (w *podWalk) unselected(nodes, of []*corev1.Node) *finding {
	value := selectorOf(w.pod)
	return &finding{
		code:     CodeNoNodeSelected,
		message:  allLeft(nodes, of, w.called(aNode), "does not match the selector of the pod", "do not match the selector of the pod") + "; the pod asks for " + value,
		evidence: w.quote(w.fact("spec.nodeSelector", value), fact(kindNode, nodes[0], "metadata.labels", labelsOf(nodes[0]))),
	}
}

func (w *podWalk) selectedUnready(nodes []*corev1.Node) *finding {
	found := &finding{
		code: CodeNoReadyNode, message: all(nodes, w.called(aNode), "that the pod selects is not ready", "that the pod selects are not ready"),
		evidence: w.quote(w.fact("spec.nodeSelector", selectorOf(w.pod)), notReady(nodes[0])),
	}
	if w.pool != "" {
		found.code = appsv1alpha1.ReasonPoolHasNoReadyNode
	}
	return found
}

func (w *podWalk) allCordoned(nodes, of []*corev1.Node) *finding {
	found := &finding{
		code: CodeNodesCordoned, message: allLeft(nodes, of, w.called(aReadyNode), "is cordoned", "are cordoned"), names: onNode(nodes[0].Name),
		evidence: w.quote(fact(kindNode, nodes[0], "spec.unschedulable", "true")),
	}
	if w.pool != "" {
		found.code = appsv1alpha1.ReasonPoolCordoned
	}
	return found
}

func (w *podWalk) allTainted(nodes, of []*corev1.Node) *finding {
	taint := w.untolerated(nodes[0])
	message := fmt.Sprintf("%s; node %s has the taint %s",
		allLeft(nodes, of, w.called(aNode), "has a taint that the pod does not tolerate", "have taints that the pod does not tolerate"), nodes[0].Name, taint.ToString())
	return &finding{
		code: CodeNodesTainted, message: message, names: onNode(nodes[0].Name),
		evidence: w.quote(fact(kindNode, nodes[0], "spec.taints", taint.ToString())),
	}
}

func (w *podWalk) tooLarge(size corev1.ResourceList, nodes []*corev1.Node) *finding {
	best := closest(size, nodes, func(node *corev1.Node) corev1.ResourceList { return node.Status.Allocatable })
	lacks := fits(size, best.Status.Allocatable)
	return &finding{
		code: CodePodTooLarge, names: onNode(best.Name),
		message: fmt.Sprintf("no node that the pod can use is large enough: the pod requests %s, and node %s has %s",
			amount(lacks, size[lacks]), best.Name, amount(lacks, best.Status.Allocatable[lacks])),
		evidence: w.quote(fact(kindNode, best, "status.allocatable."+string(lacks), quantity(best.Status.Allocatable[lacks]))),
	}
}

func (w *podWalk) noRoom(size corev1.ResourceList, nodes []*corev1.Node) *finding {
	best := closest(size, nodes, w.free)
	free := w.free(best)
	lacks := fits(size, free)
	allocatable := best.Status.Allocatable[lacks]
	message := fmt.Sprintf("the pod requests %s, and node %s has %s of %s left", amount(lacks, size[lacks]), best.Name, amount(lacks, free[lacks]), amount(lacks, allocatable))
	if lacks == corev1.ResourcePods {
		message = fmt.Sprintf("node %s has as many pods as it takes: %s", best.Name, quantity(allocatable))
	}
	return &finding{
		code: CodeNoRoom, names: onNode(best.Name), message: "no node that the pod can use has enough room left: " + message,
		evidence: w.quote(fact(kindNode, best, "status.allocatable."+string(lacks), quantity(allocatable))),
	}
}

// called is how a sentence refers to nodes.
func (w *podWalk) called(what string) string {
	if w.pool == "" {
		return what
	}
	return what + " of pool " + w.pool
}

// free returns what is left of the node.
func (w *podWalk) free(node *corev1.Node) corev1.ResourceList {
	left := maps.Clone(node.Status.Allocatable)
	for name, taken := range w.around.Taken(node.Name) {
		have, known := left[name]
		if !known {
			continue
		}
		have = have.DeepCopy()
		have.Sub(taken)
		left[name] = have
	}
	return left
}

// fits returns the first resource of which there is too little, empty for none. A node that does not report how many pods it
// accepts, accepts any number.
func fits(size, have corev1.ResourceList) corev1.ResourceName {
	for _, name := range sorted(size) {
		there, known := have[name]
		if name == corev1.ResourcePods && !known {
			continue
		}
		if there.Cmp(size[name]) < 0 {
			return name
		}
	}
	return ""
}

// closest returns the node that lacks the least of the resource that it lacks first: resources that come later in the order are
// closer, then more of it, then the name.
func closest(size corev1.ResourceList, nodes []*corev1.Node, have func(*corev1.Node) corev1.ResourceList) *corev1.Node {
	order := sorted(size)
	return slices.MaxFunc(nodes, func(a, b *corev1.Node) int {
		hasA, hasB := have(a), have(b)
		lackA, lackB := fits(size, hasA), fits(size, hasB)
		there := hasA[lackA]
		return cmp.Or(
			cmp.Compare(slices.Index(order, lackA), slices.Index(order, lackB)),
			there.Cmp(hasB[lackB]),
			strings.Compare(b.Name, a.Name),
		)
	})
}

// allLeft states something about all of these nodes, and that they are not all of their sort if earlier checks have sorted out others.
func allLeft(nodes, of []*corev1.Node, called, singular, plural string) string {
	if len(nodes) < len(of) {
		singular, plural = "that is left "+singular, "that are left "+plural
	}
	return all(nodes, called, singular, plural)
}

// all states something about all of these nodes, and names some of them.
func all(nodes []*corev1.Node, called, singular, plural string) string {
	names := make([]string, 0, len(nodes))
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	if len(names) == 1 {
		return fmt.Sprintf("the only %s %s: %s", called, singular, names[0])
	}
	first, rest, _ := strings.Cut(called, " of ")
	if rest != "" {
		rest = " of " + rest
	}
	return fmt.Sprintf("all %d %ss%s %s: %s", len(names), first, rest, plural, examples(names))
}

// notReady is the evidence that a node is not ready.
func notReady(node *corev1.Node) Evidence {
	value := "missing"
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			value = fmt.Sprintf("%s, %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return fact(kindNode, node, "status.conditions[Ready]", value)
}

func quantity(of resource.Quantity) string { return of.String() }

// labelsOf returns the labels of a node as a text.
func labelsOf(node *corev1.Node) string {
	pairs := make([]string, 0, len(node.Labels))
	for _, key := range slices.Sorted(maps.Keys(node.Labels)) {
		pairs = append(pairs, key+"="+node.Labels[key])
	}
	return strings.Join(pairs, ", ")
}
