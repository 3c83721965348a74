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

// add counts one node: what would follow with the pool, less what follows without it.
func (p *preview) add(without, with *membership.Plan, node *corev1.Node) {
	own := len(with.SetAnnotations) + len(with.RemoveAnnotations) - len(without.SetAnnotations) - len(without.RemoveAnnotations)
	for key, value := range with.SetLabels {
		if _, anyway := without.SetLabels[key]; !anyway {
			p.set[key+"="+value] = true
			own++
		}
	}
	for _, key := range with.RemoveLabels {
		if !slices.Contains(without.RemoveLabels, key) {
			p.removed[key] = true
			own++
		}
	}
	p.evict(without, with, node)
	had, gets := taintStrings(node.Spec.Taints), taintStrings(with.Taints)
	if with.TaintsChanged && !without.TaintsChanged {
		for text := range gets {
			if !had[text] {
				p.tainted[text] = true
				own++
			}
		}
		for text := range had {
			if !gets[text] {
				p.untainted[text] = true
				own++
			}
		}
	}
	if own > 0 {
		p.nodes++
	}
}

// evict notes the taints that would delete running pods of the node.
func (p *preview) evict(without, with *membership.Plan, node *corev1.Node) {
	for _, taint := range with.Taints {
		if taint.Effect == corev1.TaintEffectNoExecute && !hasTaint(node.Spec.Taints, taint) && !hasTaint(without.Taints, taint) {
			p.evicting[node.Name] = append(p.evicting[node.Name], nodesv1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
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
