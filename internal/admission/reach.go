// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
)

// reachesPoolExpression is true for a pod that does not name the pool and reaches its nodes anyway: it asks for labels of the nodes and
// tolerates their taints. A pod that requires the member label of another pool has chosen that pool.
func reachesPoolExpression(pool *nodesv1.NodePool) string {
	asked := labelsOfNodes(pool)
	if len(asked) == 0 {
		return reachesNothing
	}
	return fmt.Sprintf(`(!(%[1]s).exists(k, %[2]s && !(k in %[3]s)) &&
%[4]s &&
(%[5]s.exists(k, k in (%[1]s) && (%[1]s)[k] in %[5]s[k]) ||
%[6]s.exists(t, has(t.matchExpressions) && t.matchExpressions.exists(e,
  e.key in %[5]s && e.operator != 'NotIn' && e.operator != 'DoesNotExist' &&
  (e.operator != 'In' || e.values.exists(v, v in %[5]s[e.key]))))))`,
		podSelector, isMemberLabel("k"), listExpression(nodesv1.MemberLabels(pool.Name)...), toleratesExpression(pool), mapExpression(asked), podTerms)
}

// reachesNothing is for a pool that puts no label on its nodes.
const reachesNothing = "false"

// labelsOfNodes returns the values, by key, of the labels that the pool puts on its nodes. If taints guard the nodes, the labels by which
// the pool selects them are added: without taints, asking for such a label brings a pod no closer than asking for nothing.
func labelsOfNodes(pool *nodesv1.NodePool) map[string][]string {
	found := map[string][]string{}
	for key, value := range pool.Spec.Labels {
		found[key] = append(found[key], string(value))
	}
	selector := pool.Spec.NodeSelector
	if selector == nil || len(guards(pool)) == 0 {
		return found
	}
	add := func(key string, values ...string) {
		if !general(key) {
			found[key] = append(found[key], values...)
		}
	}
	for key, value := range selector.MatchLabels {
		add(key, value)
	}
	for _, requirement := range selector.MatchExpressions {
		if requirement.Operator == metav1.LabelSelectorOpIn {
			add(requirement.Key, requirement.Values...)
		}
	}
	return found
}

// general reports whether the label belongs to Kubernetes, such as the operating system or the zone, and describes nodes inside and outside of
// a pool. Labels under node-restriction.kubernetes.io are made for pools.
func general(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	under := func(parent string) bool { return domain == parent || strings.HasSuffix(domain, "."+parent) }
	return found && (under("kubernetes.io") || under("k8s.io")) && !under(corev1.LabelNamespaceNodeRestriction)
}

// guards returns the taints that keep pods off the nodes.
func guards(pool *nodesv1.NodePool) []nodesv1.Taint {
	return slices.DeleteFunc(slices.Clone(pool.Spec.Taints), func(taint nodesv1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule
	})
}

// toleratesExpression is true for a pod that tolerates all taints of the pool, if only for some time.
func toleratesExpression(pool *nodesv1.NodePool) string {
	terms := []string{"true"}
	for _, taint := range guards(pool) {
		terms = append(terms, fmt.Sprintf(`(%s).exists(t,
  (!has(t.key) || t.key == '' || t.key == %q) && (!has(t.effect) || t.effect == '' || t.effect == %q) &&
  (has(t.operator) && !(t.operator in ['', 'Equal']) || (has(t.value) ? t.value : '') == %q))`,
			podTolerations, taint.Key, taint.Effect, taint.Value))
	}
	return strings.Join(terms, " &&\n")
}

// mapExpression returns the map as CEL has it, sorted.
func mapExpression(values map[string][]string) string {
	entries := make([]string, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var quoted []string
		for _, value := range slices.Compact(slices.Sorted(slices.Values(values[key]))) {
			quoted = append(quoted, strconv.Quote(value))
		}
		entries = append(entries, strconv.Quote(key)+": ["+strings.Join(quoted, ", ")+"]")
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

// listExpression returns the values as CEL has them.
func listExpression(values ...string) string {
	quoted := make([]string, 0, len(values))
	for _, value := range values {
		quoted = append(quoted, strconv.Quote(value))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// movesExpression is true for a new pod, and for a pod without a node whose way to a node changes.
func movesExpression() string {
	changed := make([]string, 0, 3)
	for _, field := range []string{podSelector, podTolerations, podTerms} {
		before := strings.ReplaceAll(field, "object.", "oldObject.")
		changed = append(changed, fmt.Sprintf("(%s) != (%s)", field, before))
	}
	return "request.operation == 'CREATE' ||\n(!has(object.spec.nodeName) || object.spec.nodeName == '') && (" +
		strings.Join(changed, " ||\n") + ")"
}
