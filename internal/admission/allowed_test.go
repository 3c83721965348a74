// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func requirement(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: values}
}

// allow returns a spec that allows the namespaces that the selector selects.
func allow(selector metav1.LabelSelector) nodesv1.NodePoolSpec {
	return nodesv1.NodePoolSpec{AllowedNamespaces: &nodesv1.AllowedNamespaces{
		From: nodesv1.NamespacesFromSelector, Selector: &selector,
	}}
}

func TestAllowedNamespaces(t *testing.T) {
	t.Parallel()
	h := harness(t)
	none, ml, web := map[string]string{}, map[string]string{"team": "ml"}, map[string]string{"team": "web"}
	both := map[string]string{"team": "ml", "env": "prod"}
	type labels = map[string]string
	cases := map[string]struct {
		selector          metav1.LabelSelector
		admitted, refused []labels
		who               string
	}{
		"matchLabels": {
			selector: metav1.LabelSelector{MatchLabels: ml},
			admitted: []labels{ml, both}, refused: []labels{none, web},
			who: "team=ml",
		},
		"several matchLabels": {
			selector: metav1.LabelSelector{MatchLabels: both},
			admitted: []labels{both}, refused: []labels{none, ml},
			who: "env=prod, team=ml",
		},
		"In": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				requirement("team", metav1.LabelSelectorOpIn, "ml", "ops"),
			}},
			admitted: []labels{ml}, refused: []labels{none, web},
			who: "team in (ml,ops)",
		},
		"NotIn": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				requirement("team", metav1.LabelSelectorOpNotIn, "web"),
			}},
			admitted: []labels{none, ml}, refused: []labels{web},
			who: "team notin (web)",
		},
		"Exists": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				requirement("team", metav1.LabelSelectorOpExists),
			}},
			admitted: []labels{ml, web}, refused: []labels{none},
			who: "team",
		},
		"DoesNotExist": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				requirement("team", metav1.LabelSelectorOpDoesNotExist),
			}},
			admitted: []labels{none}, refused: []labels{ml, web},
			who: "!team",
		},
		"everything together": {
			selector: metav1.LabelSelector{
				MatchLabels: ml,
				MatchExpressions: []metav1.LabelSelectorRequirement{
					requirement("env", metav1.LabelSelectorOpIn, "prod", "stage"),
					requirement("legacy", metav1.LabelSelectorOpDoesNotExist),
				},
			},
			admitted: []labels{both}, refused: []labels{ml, {"team": "ml", "env": "prod", "legacy": ""}},
			who: "env in (prod,stage), !legacy, team=ml",
		},
		"an operator that does not exist allows nobody": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{requirement("team", "Like", "ml")}},
			refused:  []labels{none, ml},
		},
		"an operator without its values allows nobody": {
			selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				requirement("team", metav1.LabelSelectorOpNotIn),
			}},
			refused: []labels{none, ml},
		},
		"quotes and control characters allow nobody": {
			selector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml\" || true || \"\n"}},
			refused:  []labels{none, ml},
		},
		"an empty selector allows everybody": {admitted: []labels{none, ml}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := createPool(t, h, "allowed-"+strings.ToLower(strings.ReplaceAll(name, " ", "-")), nodesv1.NodePoolSpec{})
			pool.Spec = allow(tc.selector) // the API server does not accept all of them; a pool that is older than the rule may have one
			bind(t, h, pool)
			createClass(t, h, pool)
			for _, labels := range tc.refused {
				ns := namespace(t, h, labels)
				want := `NodePool "` + pool.Name + `" may not be used from namespace "` + ns +
					`": it is for namespaces with the labels ` + tc.who
				if tc.who == "" {
					want = `": it is for no namespace, because its selector is not valid`
				}
				if refusal := refused(t, h, ns, classed(pool.Name)); !strings.HasSuffix(refusal, want) {
					t.Errorf("the refusal is %q, want %q at its end", refusal, want)
				}
			}
			for _, labels := range tc.admitted {
				if _, err := try(t, h, namespace(t, h, labels), classed(pool.Name)); err != nil {
					t.Errorf("a pod in a namespace with the labels %v was refused: %v", labels, err)
				}
			}
		})
	}
}

func affinity(required bool, terms ...corev1.NodeSelectorRequirement) podOption {
	return func(pod *corev1.Pod) {
		term := corev1.NodeSelectorTerm{MatchExpressions: terms}
		node := &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: term}},
		}
		if required {
			node = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"worker-1"}}}},
					term,
				},
			}}
		}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: node}
	}
}

func TestEveryWayToNameAPool(t *testing.T) {
	t.Parallel()
	h := harness(t)
	ml := map[string]string{"team": "ml"}
	pool := createPool(t, h, "named", allow(metav1.LabelSelector{MatchLabels: ml}))
	createClass(t, h, pool)
	other := createPool(t, h, "named-other", nodesv1.NodePoolSpec{})
	createClass(t, h, other)
	allowed, foreign := namespace(t, h, ml), h.Namespace(t)
	admitted(t, h, allowed, labelled(pool.Name))
	admitted(t, h, foreign, labelled(other.Name))
	refused(t, h, foreign, classed(pool.Name))

	member, address, role := nodesv1.MemberLabel(pool.Name), nodesv1.AddressLabel(pool.Name), nodesv1.RoleLabel(pool.Name)
	cases := map[string]struct {
		option  podOption
		refused bool
	}{
		"RuntimeClass":                    {option: classed(pool.Name), refused: true},
		"pod label":                       {option: labelled(pool.Name), refused: true},
		"member label as node selector":   {option: selecting(map[string]string{member: ""}), refused: true},
		"address label as node selector":  {option: selecting(map[string]string{address: ""}), refused: true},
		"address label by affinity":       {option: affinity(true, corev1.NodeSelectorRequirement{Key: address, Operator: "Exists"}), refused: true},
		"role label as node selector":     {option: selecting(map[string]string{role: "true"}), refused: true},
		"required affinity, Exists":       {option: affinity(true, corev1.NodeSelectorRequirement{Key: member, Operator: "Exists"}), refused: true},
		"required affinity, In":           {option: affinity(true, corev1.NodeSelectorRequirement{Key: role, Operator: "In", Values: []string{""}}), refused: true},
		"preferred affinity":              {option: affinity(false, corev1.NodeSelectorRequirement{Key: member, Operator: "Exists"}), refused: true},
		"affinity that keeps away":        {option: affinity(true, corev1.NodeSelectorRequirement{Key: member, Operator: "DoesNotExist"})},
		"affinity without expressions":    {option: affinity(false)},
		"another pool by RuntimeClass":    {option: classed(other.Name)},
		"another pool by label":           {option: labelled(other.Name)},
		"another pool by node selector":   {option: selecting(map[string]string{nodesv1.MemberLabel(other.Name): ""})},
		"another pool by address label":   {option: selecting(map[string]string{nodesv1.AddressLabel(other.Name): ""})},
		"nothing":                         {option: func(*corev1.Pod) {}},
		"other kinds of affinity":         {option: func(pod *corev1.Pod) { pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}} }},
		"labels that are not about pools": {option: func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": pool.Name} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := try(t, h, allowed, tc.option); err != nil {
				t.Errorf("a pod that may use the pool was refused: %v", err)
			}
			_, err := try(t, h, foreign, tc.option)
			if !tc.refused && err != nil {
				t.Errorf("a pod that does not use the pool was refused: %v", err)
			}
			if tc.refused && (err == nil || !strings.Contains(err.Error(), `NodePool "named" may not be used from namespace "`+foreign+`"`)) {
				t.Errorf("the refusal is %v, want one that names the pool and the namespace", err)
			}
		})
	}
}

func TestSystemNamespacesAreNeverMatched(t *testing.T) {
	t.Parallel()
	h := harness(t)
	everywhere := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		requirement(corev1.LabelMetadataName, metav1.LabelSelectorOpIn, metav1.NamespaceSystem, operatorNamespace, "system-user"),
	}}
	spec := allow(metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "system-user"}})
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: everywhere}
	pool := createPool(t, h, "system", spec)
	createClass(t, h, pool)
	h.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "system-user"}})
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, "system-user")
		return err == nil && pod.Spec.RuntimeClassName != nil
	})
	refused(t, h, h.Namespace(t), classed(pool.Name))
	refused(t, h, h.Namespace(t), labelled("system-nobody"))

	for _, ns := range []string{metav1.NamespaceSystem, operatorNamespace} {
		cases := map[string]struct {
			option podOption
			want   scheduling
		}{
			"a pod that chooses nothing":       {option: func(*corev1.Pod) {}},
			"a label has no effect":            {option: labelled(pool.Name), want: scheduling{pool: pool.Name}},
			"a label of no pool has no effect": {option: labelled("system-nobody"), want: scheduling{pool: "system-nobody"}},
			"a pool that is for others may be used": {
				option: selecting(map[string]string{nodesv1.MemberLabel(pool.Name): ""}),
				want:   scheduling{selector: map[string]string{nodesv1.MemberLabel(pool.Name): ""}},
			},
		}
		for name, tc := range cases {
			t.Run(ns+": "+name, func(t *testing.T) {
				t.Parallel()
				pod, err := try(t, h, ns, tc.option)
				if err != nil {
					t.Fatalf("the pod was refused: %v", err)
				}
				wantScheduling(t, pod, tc.want)
			})
		}
	}
}

func TestMirrorPodsAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "mirror", allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}}))
	ns := h.Namespace(t)
	refused(t, h, ns, labelled(pool.Name))
	pod, err := try(t, h, ns, labelled(pool.Name), func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "1"}
		pod.Spec.NodeName = "worker-1"
	})
	if err != nil {
		t.Fatalf("the pod was refused: %v", err)
	}
	wantScheduling(t, pod, scheduling{pool: pool.Name})
}

func TestADefaultThatIsNotAllowedIsNotGiven(t *testing.T) {
	t.Parallel()
	h := harness(t)
	spec := allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}})
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: metav1.LabelSelector{
		MatchLabels: map[string]string{"default": "contradiction"},
	}}
	pool := createPool(t, h, "contradiction", spec)
	allowed := namespace(t, h, map[string]string{"default": "contradiction", "team": "ml"})
	foreign := namespace(t, h, map[string]string{"default": "contradiction"})
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, allowed)
		return err == nil && pod.Labels[nodesv1.PoolLabel] == pool.Name
	})
	wantScheduling(t, admitted(t, h, foreign), scheduling{})
}

// A pool that is as big as its schema allows, with a pod that is bigger than any, stays within what the API server allows an
// expression to cost.
func TestBiggestPoolIsWithinTheBudget(t *testing.T) {
	t.Parallel()
	h := harness(t)
	spec := nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{}}
	for i := range 64 {
		spec.Labels[numbered("big.example.com/label", i)] = nodesv1.LabelValue(strings.Repeat("v", validation.LabelValueMaxLength))
	}
	for i := range 32 {
		spec.Taints = append(spec.Taints, nodesv1.Taint{
			Key: numbered("big.example.com/taint", i), Value: strings.Repeat("v", 63), Effect: corev1.TaintEffectNoSchedule,
		})
	}
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"team": "big"}}
	spec.AllowedNamespaces = &nodesv1.AllowedNamespaces{From: nodesv1.NamespacesFromSelector, Selector: &selector}
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: selector}
	pool := createPool(t, h, "big", spec)
	ns := namespace(t, h, selector.MatchLabels)

	crowded := func(pod *corev1.Pod) {
		var terms []corev1.NodeSelectorTerm
		for i := range 200 {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations,
				tolerating(numbered("big.example.com/other", i), "", corev1.TaintEffectNoSchedule))
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "a", Operator: "Exists"}, {Key: "b", Operator: "Exists"}, {Key: "c", Operator: "Exists"},
			}})
		}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, ns)
		return err == nil && pod.Labels[nodesv1.PoolLabel] == pool.Name
	})
	pod, err := try(t, h, ns, crowded)
	if err != nil {
		t.Fatalf("the pod was refused: %v", err)
	}
	if len(pod.Spec.NodeSelector) != 65 || len(tolerations(pod)) != 232 {
		t.Errorf("the pod has %d labels and %d tolerations, want 65 and 232", len(pod.Spec.NodeSelector), len(tolerations(pod)))
	}
	for _, ref := range admission.BindingNames(pool.Name) {
		remove(t, h, ref.Live())
	}
}
