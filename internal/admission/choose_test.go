// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// gpuSpec has keys with a slash and with a tilde's neighbor, the dot, and two taints of one key.
func gpuSpec() nodesv1.NodePoolSpec {
	return nodesv1.NodePoolSpec{
		Labels: map[string]nodesv1.LabelValue{"example.com/accelerator": "a100", "disk": "ssd"},
		Taints: []nodesv1.Taint{
			{Key: "example.com/gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule},
			{Key: "example.com/gpu", Value: "now", Effect: corev1.TaintEffectNoExecute},
			{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule},
		},
	}
}

func gpuSelector(pool string, more map[string]string) map[string]string {
	selector := map[string]string{nodesv1.MemberLabel(pool): "", "example.com/accelerator": "a100", "disk": "ssd"}
	maps.Copy(selector, more)
	return selector
}

func gpuTolerations(more ...corev1.Toleration) []corev1.Toleration {
	return append([]corev1.Toleration{
		tolerating("example.com/gpu", "yes", corev1.TaintEffectNoSchedule),
		tolerating("example.com/gpu", "now", corev1.TaintEffectNoExecute),
		tolerating("dedicated", "", corev1.TaintEffectNoSchedule),
	}, more...)
}

func TestPodLabelChoosesThePool(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "label-gpu", gpuSpec())
	h.Create(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "label-nvidia"}, Handler: "nvidia"})
	ns := h.Namespace(t)
	admitted(t, h, ns, labelled(pool.Name))

	seconds := int64(60)
	other := corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}
	anyGPU := corev1.Toleration{Key: "example.com/gpu", Operator: corev1.TolerationOpExists}
	everything := corev1.Toleration{Operator: corev1.TolerationOpExists}
	own := tolerating("example.com/gpu", "yes", corev1.TaintEffectNoSchedule)
	implicit := corev1.Toleration{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}
	limited := corev1.Toleration{
		Key: "example.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
	}
	withTolerations := func(list ...corev1.Toleration) podOption {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = list }
	}
	cases := map[string]struct {
		options []podOption
		want    scheduling
	}{
		"a pod without selector and tolerations gets those of the pool": {
			want: scheduling{selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations()},
		},
		"a pod's own selector is kept": {
			options: []podOption{selecting(map[string]string{"zone": "a"})},
			want:    scheduling{selector: gpuSelector(pool.Name, map[string]string{"zone": "a"}), tolerations: gpuTolerations()},
		},
		"a selector that agrees with the pool is no contradiction": {
			options: []podOption{selecting(map[string]string{"disk": "ssd", nodesv1.MemberLabel(pool.Name): ""})},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations()},
		},
		"a pod's own tolerations are kept": {
			options: []podOption{withTolerations(other)},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations(other)},
		},
		"a toleration that is there is not added again": {
			options: []podOption{withTolerations(own)},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations()},
		},
		"a toleration without operator means Equal": {
			options: []podOption{withTolerations(implicit)},
			want: scheduling{
				selector: gpuSelector(pool.Name, nil), tolerations: append(gpuTolerations()[:2:2], implicit),
			},
		},
		"a wider toleration makes the pool's needless": {
			options: []podOption{withTolerations(anyGPU)},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: append(gpuTolerations()[2:], anyGPU)},
		},
		"a pod that tolerates everything gets nothing": {
			options: []podOption{withTolerations(everything)},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: []corev1.Toleration{everything}},
		},
		"a toleration for some time is not enough": {
			options: []podOption{withTolerations(limited)},
			want:    scheduling{selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations(limited)},
		},
		"a pod with another RuntimeClass keeps it": {
			options: []podOption{classed("label-nvidia")},
			want: scheduling{
				class: "label-nvidia", selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations(),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, err := try(t, h, ns, append(tc.options, labelled(pool.Name))...)
			if err != nil {
				t.Fatalf("the pod was refused: %v", err)
			}
			tc.want.pool = pool.Name
			wantScheduling(t, pod, tc.want)
		})
	}
}

func TestPodLabelOfAPoolWithoutLabelsAndTaints(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "label-bare", nodesv1.NodePoolSpec{})
	pod := admitted(t, h, h.Namespace(t), labelled(pool.Name))
	wantScheduling(t, pod, scheduling{pool: pool.Name, selector: map[string]string{nodesv1.MemberLabel(pool.Name): ""}})
}

func TestPodLabelSelectsWhatTheRuntimeClassSelects(t *testing.T) {
	t.Parallel()
	h := harness(t)
	ns := h.Namespace(t)
	pool := createPool(t, h, "label-segment", nodesv1.NodePoolSpec{NodeCIDRs: []nodesv1.CIDR{"10.20.0.0/16"}})
	strict, byAddress := nodesv1.MemberLabel(pool.Name), nodesv1.AddressLabel(pool.Name)
	pod := admitted(t, h, ns, labelled(pool.Name))
	wantScheduling(t, pod, scheduling{pool: pool.Name, selector: map[string]string{byAddress: ""}})
	for _, label := range []string{strict, byAddress} {
		testkit.EditStatus(t, h, pool, func(p *nodesv1.NodePool) { p.Status.MemberLabel = label })
		testkit.Eventually(t, "pods select "+label, func() bool {
			pod, err := try(t, h, ns, labelled(pool.Name))
			return err == nil && maps.Equal(pod.Spec.NodeSelector, map[string]string{label: ""})
		})
	}
}

func TestPodLabelToleratesTaintsThatNodesStillHave(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "label-ledger", nodesv1.NodePoolSpec{
		Taints: []nodesv1.Taint{{Key: "example.com/gpu", Value: "new", Effect: corev1.TaintEffectNoSchedule}},
	})
	testkit.EditStatus(t, h, pool, func(pool *nodesv1.NodePool) {
		pool.Status.Ledger.Taints = []string{"example.com/gpu=new:NoSchedule", "example.com/gpu=old:NoSchedule", "gone=:NoExecute"}
	})
	want := scheduling{
		pool: pool.Name, selector: map[string]string{nodesv1.MemberLabel(pool.Name): ""},
		tolerations: []corev1.Toleration{
			tolerating("example.com/gpu", "new", corev1.TaintEffectNoSchedule),
			tolerating("example.com/gpu", "old", corev1.TaintEffectNoSchedule),
			tolerating("gone", "", corev1.TaintEffectNoExecute),
		},
	}
	ns := h.Namespace(t)
	testkit.Eventually(t, "the API server has seen the ledger", func() bool {
		pod, err := try(t, h, ns, labelled(pool.Name))
		return err == nil && len(tolerations(pod)) == len(want.tolerations)
	})
	wantScheduling(t, admitted(t, h, ns, labelled(pool.Name)), want)
}

func TestPodLabelToleratesTaintsOfPoolsThatShareANode(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "label-neighbor", nodesv1.NodePoolSpec{
		Taints: []nodesv1.Taint{{Key: "example.com/gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}},
	})
	testkit.EditStatus(t, h, pool, func(pool *nodesv1.NodePool) {
		pool.Status.NeighborTaints = []string{"example.com/batch=:NoExecute", "example.com/gpu=yes:NoSchedule", "team=a:NoSchedule"}
	})
	tolerated := corev1.Toleration{Key: "team", Operator: corev1.TolerationOpExists}
	want := scheduling{
		pool: pool.Name, selector: map[string]string{nodesv1.MemberLabel(pool.Name): ""},
		tolerations: []corev1.Toleration{
			tolerated,
			tolerating("example.com/gpu", "yes", corev1.TaintEffectNoSchedule),
			tolerating("example.com/batch", "", corev1.TaintEffectNoExecute),
		},
	}
	own := func(pod *corev1.Pod) { pod.Spec.Tolerations = []corev1.Toleration{tolerated} }
	ns := h.Namespace(t)
	testkit.Eventually(t, "the API server has seen the neighbors", func() bool {
		pod, err := try(t, h, ns, labelled(pool.Name), own)
		return err == nil && len(tolerations(pod)) == len(want.tolerations)
	})
	wantScheduling(t, admitted(t, h, ns, labelled(pool.Name), own), want)
}

func TestPodLabelThatCannotBeHonouredIsRefused(t *testing.T) {
	t.Parallel()
	h := harness(t)
	pool := createPool(t, h, "label-refuse", gpuSpec())
	ns := h.Namespace(t)
	admitted(t, h, ns, labelled(pool.Name))

	cases := map[string][]podOption{
		"of a pool that does not exist":                   {labelled("label-nobody")},
		"without a name":                                  {labelled("")},
		"on a pod that wants nodes that the pool has not": {labelled(pool.Name), selecting(map[string]string{"disk": "hdd"})},
	}
	for name, options := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{}
			options[0](pod)
			want := `NodePool "` + pod.Labels[nodesv1.PoolLabel] + `" does not exist or is being deleted, or its labels contradict the node selector of the pod`
			if refusal := refused(t, h, ns, options...); !strings.Contains(refusal, want) {
				t.Errorf("the refusal is %q, want %q in it", refusal, want)
			}
		})
	}
}

func TestNamespaceDefault(t *testing.T) {
	t.Parallel()
	h := harness(t)
	spec := gpuSpec()
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"default": "gpu"}}
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: selector}
	pool := createPool(t, h, "default-gpu", spec)
	createClass(t, h, pool)
	other := createPool(t, h, "default-other", nodesv1.NodePoolSpec{})
	createClass(t, h, other)
	h.Create(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "default-nvidia"}, Handler: "nvidia"})
	matching, elsewhere := namespace(t, h, selector.MatchLabels), h.Namespace(t)

	neighbor := tolerating("example.com/neighbor", "yes", corev1.TaintEffectNoSchedule)
	member := map[string]string{nodesv1.MemberLabel(other.Name): ""}
	given := scheduling{
		class: pool.Name, pool: pool.Name, selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations(neighbor),
	}
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, matching)
		return err == nil && pod.Spec.RuntimeClassName != nil
	})
	admitted(t, h, matching, labelled(other.Name))
	if pod := admitted(t, h, matching); pod.Annotations[nodesv1.DefaultAnnotation] != pool.Name {
		t.Errorf("the annotation is %q, want the name of the pool", pod.Annotations[nodesv1.DefaultAnnotation])
	}

	cases := map[string]struct {
		namespace string
		options   []podOption
		want      scheduling
	}{
		"a pod that chooses nothing gets the whole pool": {want: given},
		"a pod in another namespace gets nothing":        {namespace: elsewhere},
		"a pod in kube-system gets nothing":              {namespace: metav1.NamespaceSystem},
		"a pod that chooses by RuntimeClass keeps its pool": {
			options: []podOption{classed(other.Name)},
			want:    scheduling{class: other.Name, selector: member, tolerations: []corev1.Toleration{neighbor}},
		},
		"a pod that chooses by label keeps its pool": {
			options: []podOption{labelled(other.Name)},
			want:    scheduling{pool: other.Name, selector: member},
		},
		"a pod that chooses by node selector keeps its pool": {
			options: []podOption{selecting(member)},
			want:    scheduling{selector: member},
		},
		"a pod with a RuntimeClass that is no pool's is left alone": {
			options: []podOption{classed("default-nvidia")},
			want:    scheduling{class: "default-nvidia"},
		},
		"a pod that wants nodes that the pool has not is left alone": {
			options: []podOption{selecting(map[string]string{"disk": "hdd"})},
			want:    scheduling{selector: map[string]string{"disk": "hdd"}},
		},
		"a pod that is bound to a node is left alone": {
			options: []podOption{func(pod *corev1.Pod) { pod.Spec.NodeName = "worker-1" }},
		},
		"a pod of a DaemonSet is left alone": {
			options: []podOption{func(pod *corev1.Pod) {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "logs", UID: "1"}}
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.namespace == "" {
				tc.namespace = matching
			}
			pod, err := try(t, h, tc.namespace, tc.options...)
			if err != nil {
				t.Fatalf("the pod was refused: %v", err)
			}
			wantScheduling(t, pod, tc.want)
		})
	}
}

func TestNamespaceDefaultWithoutARuntimeClassOfThePool(t *testing.T) {
	t.Parallel()
	h := harness(t)
	spec := gpuSpec()
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"default": "foreign"}}
	spec.DefaultFor = &nodesv1.DefaultFor{NamespaceSelector: selector}
	pool := createPool(t, h, "default-foreign", spec)
	h.Create(t, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}, Handler: "somebody-elses"})
	ns := namespace(t, h, selector.MatchLabels)

	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, ns)
		return err == nil && pod.Labels[nodesv1.PoolLabel] != ""
	})
	wantScheduling(t, admitted(t, h, ns),
		scheduling{pool: pool.Name, selector: gpuSelector(pool.Name, nil), tolerations: gpuTolerations()})
}

// The API server calls bindings in random order, and a new one each time that a binding changes: so the outcome of many
// pods, under several pools, decides.
func TestFirstOfSeveralDefaultsIsGiven(t *testing.T) {
	t.Parallel()
	h := harness(t)
	names := []string{"first-d", "first-b", "first-a", "first-c"}
	namespaces := map[string]string{}
	for _, name := range names {
		// Every pool is the default of the shared namespace, and of one more that shows that its binding is active.
		selector := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "default", Operator: metav1.LabelSelectorOpIn, Values: []string{"first-all", name}},
		}}
		spec := nodesv1.NodePoolSpec{
			Labels:     map[string]nodesv1.LabelValue{"only-of": nodesv1.LabelValue(name)},
			DefaultFor: &nodesv1.DefaultFor{NamespaceSelector: selector},
		}
		pool := createPool(t, h, name, spec)
		// Half of them have no RuntimeClass, so that one kind of default replaces the other.
		if name == "first-d" || name == "first-a" {
			createClass(t, h, pool)
		}
		namespaces[name] = namespace(t, h, map[string]string{"default": name})
	}
	all := namespace(t, h, map[string]string{"default": "first-all"})
	for _, name := range names {
		testkit.Eventually(t, "the default "+name+" is given", func() bool {
			pod, err := try(t, h, namespaces[name])
			return err == nil && pod.Labels[nodesv1.PoolLabel] == name && (name != "first-a" || pod.Spec.RuntimeClassName != nil)
		})
	}
	want := scheduling{
		class: "first-a", pool: "first-a",
		selector:    map[string]string{nodesv1.MemberLabel("first-a"): "", "only-of": "first-a"},
		tolerations: []corev1.Toleration{tolerating("example.com/neighbor", "yes", corev1.TaintEffectNoSchedule)},
	}
	for range 10 {
		wantScheduling(t, admitted(t, h, all), want)
	}
	// Without the first one, the next one that is left has no RuntimeClass, and replaces one that has.
	for _, ref := range admission.BindingNames("first-a") {
		remove(t, h, ref.Live())
	}
	testkit.Eventually(t, "the next default is given", func() bool {
		pod, err := try(t, h, all)
		return err == nil && pod.Labels[nodesv1.PoolLabel] == "first-b"
	})
	for range 10 {
		wantScheduling(t, admitted(t, h, all), scheduling{
			pool: "first-b", selector: map[string]string{nodesv1.MemberLabel("first-b"): "", "only-of": "first-b"},
		})
	}
}

func TestDeletedPoolTakesNoMorePods(t *testing.T) {
	t.Parallel()
	h := harness(t)
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"default": "deleted"}}
	pool := &nodesv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "deleted", Finalizers: []string{nodesv1.Finalizer}},
		Spec: nodesv1.NodePoolSpec{
			DefaultFor: &nodesv1.DefaultFor{NamespaceSelector: selector},
			AllowedNamespaces: &nodesv1.AllowedNamespaces{
				From: nodesv1.NamespacesFromSelector, Selector: &selector,
			},
		},
	}
	h.Create(t, pool)
	bind(t, h, pool)
	createClass(t, h, pool)
	allowed, foreign := namespace(t, h, selector.MatchLabels), h.Namespace(t)
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, allowed)
		return err == nil && pod.Spec.RuntimeClassName != nil
	})
	refused(t, h, foreign, classed(pool.Name))

	remove(t, h, pool)
	if !h.Get(t, pool) {
		t.Fatal("the pool is gone in spite of its finalizer")
	}
	bind(t, h, pool)
	testkit.Eventually(t, "the default is given no more", func() bool {
		pod, err := try(t, h, allowed)
		return err == nil && pod.Spec.RuntimeClassName == nil && pod.Labels[nodesv1.PoolLabel] == ""
	})
	refused(t, h, allowed, labelled(pool.Name))
	// As long as there is a RuntimeClass, it is for those that were allowed to use the pool.
	if _, err := try(t, h, allowed, classed(pool.Name)); err != nil {
		t.Errorf("a pod that may use the RuntimeClass was refused: %v", err)
	}
	if refusal := refused(t, h, foreign, classed(pool.Name)); !strings.Contains(refusal, `NodePool "deleted" may not be used`) {
		t.Errorf("the refusal is %q", refusal)
	}

	for _, ref := range admission.BindingNames(pool.Name) {
		remove(t, h, ref.Live())
	}
	testkit.Eventually(t, "nothing is left that refuses", func() bool {
		_, err := try(t, h, foreign, classed(pool.Name))
		return err == nil
	})
	testkit.Edit(t, h, pool, func(pool *nodesv1.NodePool) { pool.Finalizers = nil })
}

func TestBindingWithoutItsPoolHasNoEffect(t *testing.T) {
	t.Parallel()
	h := harness(t)
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"default": "orphan"}}
	pool := createPool(t, h, "orphan", nodesv1.NodePoolSpec{DefaultFor: &nodesv1.DefaultFor{NamespaceSelector: selector}})
	ns := namespace(t, h, selector.MatchLabels)
	testkit.Eventually(t, "the default is given", func() bool {
		pod, err := try(t, h, ns)
		return err == nil && pod.Labels[nodesv1.PoolLabel] == pool.Name
	})
	remove(t, h, pool)
	testkit.Eventually(t, "the default is given no more", func() bool {
		pod, err := try(t, h, ns)
		return err == nil && pod.Labels[nodesv1.PoolLabel] == ""
	})
	refused(t, h, ns, labelled(pool.Name))
}
