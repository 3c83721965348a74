// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// maxPreview is how many entries each list of a dry run report has at most.
const maxPreview = 64

// preview adds up what a pool in dry run would do to its nodes.
type preview struct {
	nodes                            int32
	set, removed, tainted, untainted map[string]bool
	// evicting are the taints, by node, that would delete running pods there.
	evicting map[string][]nodesv1.Taint
}

func newPreview() *preview {
	return &preview{
		set: map[string]bool{}, removed: map[string]bool{}, tainted: map[string]bool{}, untainted: map[string]bool{},
		evicting: map[string][]nodesv1.Taint{},
	}
}

// add counts one node that the pool would change.
func (p *preview) add(node string, of *change) {
	if of.counts {
		p.nodes++
	}
	for _, list := range []struct {
		into  map[string]bool
		items []string
	}{{p.set, of.set}, {p.removed, of.removed}, {p.tainted, of.tainted}, {p.untainted, of.untainted}} {
		for _, item := range list.items {
			list.into[item] = true
		}
	}
	if len(of.evicting) > 0 {
		p.evicting[node] = of.evicting
	}
}

// change is what a pool in dry run would do to one node.
type change struct {
	// counts is false where the pool would only add to the taints of the node, which change without it, too.
	counts                           bool
	set, removed, tainted, untainted []string
	evicting                         []nodesv1.Taint
}

// newChange returns what would follow with the pool, less what follows without it, nil for nothing.
func newChange(without, with *membership.Plan, node *corev1.Node) *change {
	of := &change{evicting: evictingBy(without, with, node)}
	for key, value := range with.SetLabels {
		if _, anyway := without.SetLabels[key]; !anyway {
			of.set = append(of.set, key+"="+value)
		}
	}
	for _, key := range with.RemoveLabels {
		if !slices.Contains(without.RemoveLabels, key) {
			of.removed = append(of.removed, key)
		}
	}
	if with.TaintsChanged && !without.TaintsChanged {
		had, gets := taintStrings(node.Spec.Taints), taintStrings(with.Taints)
		of.tainted, of.untainted = minus(gets, had), minus(had, gets)
	}
	own := len(with.SetAnnotations) + len(with.RemoveAnnotations) - len(without.SetAnnotations) - len(without.RemoveAnnotations)
	of.counts = own+len(of.set)+len(of.removed)+len(of.tainted)+len(of.untainted) > 0
	if !of.counts && len(of.evicting) == 0 { // nearly all nodes of a large cluster
		return nil
	}
	return of
}

// minus returns what is in all and not in some.
func minus(all, some map[string]bool) []string {
	var list []string
	for text := range all {
		if !some[text] {
			list = append(list, text)
		}
	}
	return list
}

// evictingBy returns the taints that would delete running pods of the node.
func evictingBy(without, with *membership.Plan, node *corev1.Node) []nodesv1.Taint {
	var taints []nodesv1.Taint
	for _, taint := range with.Taints {
		if taint.Effect == corev1.TaintEffectNoExecute && !hasTaint(node.Spec.Taints, taint) && !hasTaint(without.Taints, taint) {
			taints = append(taints, nodesv1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
	return taints
}

// report returns what the status shows.
func (p *preview) report(podsToEvict int32) *nodesv1.DryRunReport {
	return &nodesv1.DryRunReport{
		AffectedNodes:  p.nodes,
		LabelsToSet:    firstOf(p.set),
		LabelsToRemove: firstOf(p.removed),
		TaintsToAdd:    firstOf(p.tainted),
		TaintsToRemove: firstOf(p.untainted),
		PodsToEvict:    podsToEvict,
	}
}

func hasTaint(taints []corev1.Taint, taint corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) && t.Value == taint.Value })
}

func firstOf(set map[string]bool) []string {
	list := slices.Sorted(maps.Keys(set))
	return list[:min(len(list), maxPreview)]
}

func taintStrings(taints []corev1.Taint) map[string]bool {
	out := make(map[string]bool, len(taints))
	for _, taint := range taints {
		out[taint.Key+"="+taint.Value+":"+string(taint.Effect)] = true
	}
	return out
}
