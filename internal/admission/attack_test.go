// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// The labels and the taint of the pool that is attacked.
const (
	attackedLabel  = "attack.example.com/accelerator"
	attackedMarker = "attack.example.com/present"
	attackedTaint  = "attack.example.com/gpu"
)

// attackedPool is for the team ml only. It puts a label and a taint on nodes, and selects them by another label.
func attackedPool(t *testing.T, h *testkit.Harness) *nodesv1.NodePool {
	t.Helper()
	spec := allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}})
	spec.Labels = map[string]nodesv1.LabelValue{attackedLabel: "a100"}
	spec.Taints = []nodesv1.Taint{
		{Key: attackedTaint, Value: "yes", Effect: corev1.TaintEffectNoSchedule},
		{Key: attackedTaint, Value: "maybe", Effect: corev1.TaintEffectPreferNoSchedule},
	}
	spec.NodeSelector = &metav1.LabelSelector{
		MatchLabels: map[string]string{attackedMarker: "true", corev1.LabelOSStable: "linux"},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			requirement("attack.example.com/model", metav1.LabelSelectorOpIn, "x", "y"),
		},
	}
	return createPool(t, h, "attacked", spec)
}

func tolerates(list ...corev1.Toleration) podOption {
	return func(pod *corev1.Pod) { pod.Spec.Tolerations = append(pod.Spec.Tolerations, list...) }
}

// toNode does what the DaemonSet controller does.
func toNode(pod *corev1.Pod) {
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"worker-1"}}},
		}}},
	}}
}

// A pod that tolerated everything and asked for the labels of a pool's nodes used to get there from every namespace.
func TestAttackPodReachesARestrictedPoolByTheLabelsOfItsNodes(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := attackedPool(t, h)
	other := createPool(t, h, "attacked-other", nodesv1.NodePoolSpec{Labels: map[string]nodesv1.LabelValue{attackedLabel: "a100"}})
	allowed, foreign := namespace(t, h, map[string]string{"team": "ml"}), h.Namespace(t)
	admitted(t, h, allowed, labelled(pool.Name))
	admitted(t, h, foreign, labelled(other.Name))
	refused(t, h, foreign, labelled(pool.Name))

	everything := tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})
	exact := tolerates(tolerating(attackedTaint, "yes", corev1.TaintEffectNoSchedule))
	seconds := int64(60)
	required := func(key string, operator corev1.NodeSelectorOperator, values ...string) podOption {
		return affinity(true, corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values})
	}
	byLabel := selecting(map[string]string{attackedLabel: "a100"})
	cases := map[string]struct {
		options []podOption
		refused bool
	}{
		"tolerates everything, selects a label of the pool": {options: []podOption{everything, byLabel}, refused: true},
		"tolerates the taint, selects a label of the pool":  {options: []podOption{exact, byLabel}, refused: true},
		"tolerates the taint by its key": {
			options: []podOption{tolerates(corev1.Toleration{Key: attackedTaint, Operator: corev1.TolerationOpExists}), byLabel}, refused: true,
		},
		"tolerates the taint for some time": {
			options: []podOption{tolerates(corev1.Toleration{
				Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			}), exact, byLabel}, refused: true,
		},
		"requires a label of the pool by affinity": {options: []podOption{everything, required(attackedLabel, "In", "h100", "a100")}, refused: true},
		"requires any value of the label":          {options: []podOption{everything, required(attackedLabel, "Exists")}, refused: true},
		"prefers a label of the pool": {
			options: []podOption{everything, affinity(false, corev1.NodeSelectorRequirement{Key: attackedLabel, Operator: "Exists"})}, refused: true,
		},
		"selects a label by which the pool selects nodes": {
			options: []podOption{everything, selecting(map[string]string{attackedMarker: "true"})}, refused: true,
		},
		"selects a value by which the pool selects nodes": {
			options: []podOption{everything, selecting(map[string]string{"attack.example.com/model": "y"})}, refused: true,
		},
		"a DaemonSet's pod that selects a label of the pool": {options: []podOption{everything, byLabel, toNode}, refused: true},

		"a DaemonSet's pod that tolerates everything":  {options: []podOption{everything, toNode}},
		"tolerates everything and selects nothing":     {options: []podOption{everything}},
		"selects a label that every node has":          {options: []podOption{everything, selecting(map[string]string{corev1.LabelOSStable: "linux"})}},
		"does not tolerate the taint":                  {options: []podOption{byLabel}},
		"tolerates another value of the taint":         {options: []podOption{tolerates(tolerating(attackedTaint, "no", corev1.TaintEffectNoSchedule)), byLabel}},
		"tolerates another effect of the taint":        {options: []podOption{tolerates(tolerating(attackedTaint, "yes", corev1.TaintEffectNoExecute)), byLabel}},
		"selects another value of the label":           {options: []podOption{everything, selecting(map[string]string{attackedLabel: "h100"})}},
		"requires another value of the label":          {options: []podOption{everything, required(attackedLabel, "In", "h100")}},
		"keeps away from the label":                    {options: []podOption{everything, required(attackedLabel, "NotIn", "a100")}},
		"keeps away from labelled nodes":               {options: []podOption{everything, required(attackedLabel, "DoesNotExist")}},
		"chooses another pool that has the same label": {options: []podOption{everything, labelled(other.Name)}},
		"chooses the members of the pool by both of their labels": {
			options: []podOption{selecting(map[string]string{nodesv1.MemberLabel(pool.Name): "", nodesv1.AddressLabel(pool.Name): ""})}, refused: true,
		},
		"chooses the members of another pool with the same label, which joined by address": {
			options: []podOption{everything, selecting(map[string]string{attackedLabel: "a100", nodesv1.AddressLabel(other.Name): ""})},
		},
		"chooses the members of another pool with the same label": {
			options: []podOption{everything, selecting(map[string]string{attackedLabel: "a100", nodesv1.MemberLabel(other.Name): ""})},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := try(t, h, allowed, tc.options...); err != nil {
				t.Errorf("a pod that may use the pool was refused: %v", err)
			}
			_, err := try(t, h, foreign, tc.options...)
			if !tc.refused && err != nil {
				t.Errorf("a pod that does not choose the pool was refused: %v", err)
			}
			if tc.refused && (err == nil || !strings.Contains(err.Error(), `NodePool "attacked" may not be used from namespace "`+foreign+`"`)) {
				t.Errorf("the refusal is %v, want one that names the pool and the namespace", err)
			}
		})
	}
}

// A pod that was admitted without tolerations, or with a scheduling gate, used to get them, or a node selector, afterwards.
func TestAttackPodThatWaitsIsChangedToReachARestrictedPool(t *testing.T) {
	t.Parallel()
	h := harness(t)
	spec := allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}})
	spec.Labels = map[string]nodesv1.LabelValue{"changed.example.com/accelerator": "a100"}
	spec.Taints = []nodesv1.Taint{{Key: "changed.example.com/gpu", Effect: corev1.TaintEffectNoSchedule}}
	pool := createPool(t, h, "changed", spec)
	foreign := h.Namespace(t)
	refused(t, h, foreign, labelled(pool.Name))
	refused(t, h, foreign, selecting(map[string]string{nodesv1.MemberLabel(pool.Name): ""}))

	gated := func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
	}
	toleration := tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})
	byLabel := selecting(map[string]string{"changed.example.com/accelerator": "a100"})
	cases := map[string]struct {
		before, change []podOption
		refused        bool
	}{
		"a toleration is added":           {before: []podOption{byLabel}, change: []podOption{toleration}, refused: true},
		"a gated pod gets a selector":     {before: []podOption{gated, toleration}, change: []podOption{byLabel}, refused: true},
		"a gated pod gets a member label": {before: []podOption{gated}, change: []podOption{selecting(map[string]string{nodesv1.MemberLabel(pool.Name): ""})}, refused: true},
		"a label is added": {
			before: []podOption{byLabel}, change: []podOption{func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web"} }},
		},
		"a toleration is added to a pod that has a node": {
			before: []podOption{byLabel, func(pod *corev1.Pod) { pod.Spec.NodeName = "worker-1" }}, change: []podOption{toleration},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "waits-", Namespace: foreign},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
			}
			for _, option := range tc.before {
				option(pod)
			}
			h.Create(t, pod)
			for _, option := range tc.change {
				option(pod)
			}
			err := h.Live.Update(t.Context(), pod, client.DryRunAll)
			if refused := err != nil && strings.Contains(err.Error(), `NodePool "changed" may not be used from namespace`); refused != tc.refused {
				t.Errorf("the answer to the change is %v, want a refusal: %t", err, tc.refused)
			}
		})
	}
}

// The policy followed the spec at once. While nodes followed in batches, pods of every namespace reached those that still carried what the spec before
// had put on them.
func TestAttackPodReachesNodesThatHaveNotFollowedYet(t *testing.T) {
	t.Parallel()
	h := harness(t)
	const tier, gpu, model = "earlier.example.com/tier", "earlier.example.com/gpu", "earlier.example.com/model"
	spec := allow(metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}})
	spec.Labels = map[string]nodesv1.LabelValue{tier: "a"}
	spec.Taints = []nodesv1.Taint{{Key: gpu, Effect: corev1.TaintEffectNoSchedule}}
	pool := createPool(t, h, "earlier", spec)
	foreign := h.Namespace(t)
	before := []podOption{selecting(map[string]string{tier: "a"}), tolerates(corev1.Toleration{Key: gpu, Operator: corev1.TolerationOpExists})}
	after := []podOption{selecting(map[string]string{tier: "b"}), tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})}
	other := []podOption{selecting(map[string]string{tier: "c"}), tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists})}
	refused(t, h, foreign, before...)

	pool.Spec.Labels = map[string]nodesv1.LabelValue{tier: "b"}
	pool.Spec.Taints = append(pool.Spec.Taints, nodesv1.Taint{Key: model, Effect: corev1.TaintEffectNoSchedule})
	guard(t, h, pool, true)
	refused(t, h, foreign, after...)
	refused(t, h, foreign, before...)
	admitted(t, h, foreign, other...)

	guard(t, h, pool, false)
	admitted(t, h, foreign, before...)
	refused(t, h, foreign, after...)
}

// guard applies the policy of the pool as it is while nodes still follow its spec, or when they have.
func guard(t *testing.T, h *testkit.Harness, pool *nodesv1.NodePool, behind bool) {
	t.Helper()
	object := guardOf(t, pool)
	if live := object.Live(); behind && h.Get(t, live) {
		object = meanwhile(t, object, live)
	}
	apply(t, h.Live, []admission.Object{object})
}
