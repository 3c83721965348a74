// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/testkit"
)

const operatorNamespace = "windlass-system"

func TestMain(m *testing.M) { testkit.Main(m) }

// policies guards that the policies of all pools are applied once for all tests.
var policies sync.Mutex

// harness returns a harness on an API server that has the policies of all pools.
func harness(t *testing.T) *testkit.Harness {
	t.Helper()
	h := testkit.New(t)
	policies.Lock()
	defer policies.Unlock()
	shared, err := admission.PolicyObjects(operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, h.Live, shared)
	for _, name := range []string{operatorNamespace, metav1.NamespaceSystem} {
		err := h.Live.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	// Until the API server enforces the policies, it admits a pod with a label that no pool honours.
	refused(t, h, metav1.NamespaceDefault, labelled("nobody"))
	return h
}

func apply(t *testing.T, c client.Client, objects []admission.Object) {
	t.Helper()
	for _, object := range objects {
		if err := patch.Apply(t.Context(), c, object.Config); err != nil {
			t.Fatalf("cannot apply %s %q: %v", object.Kind, object.Name, err)
		}
	}
}

// bind brings the bindings of the pool to what they have to be, as the controller does.
func bind(t *testing.T, h *testkit.Harness, pool *nodesv1.NodePool) {
	t.Helper()
	bindings, err := admission.Bindings(pool, operatorNamespace)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, h.Live, bindings)
	wanted := map[admission.Ref]bool{}
	for _, binding := range bindings {
		wanted[binding.Ref] = true
	}
	for _, ref := range admission.BindingNames(pool.Name) {
		if !wanted[ref] {
			remove(t, h, ref.Live())
		}
	}
}

func remove(t *testing.T, h *testkit.Harness, object client.Object) {
	t.Helper()
	if err := client.IgnoreNotFound(h.Live.Delete(t.Context(), object)); err != nil {
		t.Fatal(err)
	}
}

// createPool creates the pool with its bindings.
func createPool(t *testing.T, h *testkit.Harness, name string, spec nodesv1.NodePoolSpec) *nodesv1.NodePool {
	t.Helper()
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	h.Create(t, pool)
	bind(t, h, pool)
	return pool
}

// createClass creates a RuntimeClass as the controller does, with a toleration for a pool that shares nodes with this one.
func createClass(t *testing.T, h *testkit.Harness, pool *nodesv1.NodePool) {
	t.Helper()
	scheduling := &nodev1.Scheduling{NodeSelector: map[string]string{nodesv1.MemberLabel(pool.Name): ""}}
	for key, value := range pool.Spec.Labels {
		scheduling.NodeSelector[key] = string(value)
	}
	for _, taint := range pool.Spec.Taints {
		scheduling.Tolerations = append(scheduling.Tolerations, tolerating(taint.Key, taint.Value, taint.Effect))
	}
	scheduling.Tolerations = append(scheduling.Tolerations, tolerating("example.com/neighbor", "yes", corev1.TaintEffectNoSchedule))
	h.Create(t, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: pool.Name}, Handler: "runc", Scheduling: scheduling,
	})
	testkit.EditStatus(t, h, pool, func(pool *nodesv1.NodePool) {
		pool.Status.Conditions = []metav1.Condition{{
			Type: nodesv1.ConditionRuntimeClassReady, Status: metav1.ConditionTrue,
			Reason: nodesv1.ReasonRuntimeClassReady, LastTransitionTime: metav1.Now(),
		}}
	})
}

func tolerating(key, value string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: value, Effect: effect}
}

// namespace creates a namespace with the labels.
func namespace(t *testing.T, h *testkit.Harness, labels map[string]string) string {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	h.Create(t, object)
	return object.Name
}

// podOption changes a pod that is about to be created.
type podOption func(*corev1.Pod)

func labelled(pool string) podOption {
	return func(pod *corev1.Pod) { pod.Labels = map[string]string{nodesv1.PoolLabel: pool} }
}

func classed(class string) podOption {
	return func(pod *corev1.Pod) { pod.Spec.RuntimeClassName = &class }
}

func selecting(selector map[string]string) podOption {
	return func(pod *corev1.Pod) { pod.Spec.NodeSelector = selector }
}

// try creates a pod without storing it, and returns what would be stored.
func try(t *testing.T, h *testkit.Harness, namespace string, options ...podOption) (*corev1.Pod, error) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Namespace: namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
	}
	for _, option := range options {
		option(pod)
	}
	err := h.Live.Create(t.Context(), pod, client.DryRunAll)
	return pod, err
}

// admitted waits until the API server admits such a pod, and returns it.
func admitted(t *testing.T, h *testkit.Harness, namespace string, options ...podOption) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	testkit.Eventually(t, "the API server admits the pod", func() bool {
		var err error
		pod, err = try(t, h, namespace, options...)
		return err == nil
	})
	return pod
}

// refused waits until the API server refuses such a pod, and returns the refusal.
func refused(t *testing.T, h *testkit.Harness, namespace string, options ...podOption) string {
	t.Helper()
	var refusal error
	testkit.Eventually(t, "the API server refuses the pod", func() bool {
		_, refusal = try(t, h, namespace, options...)
		return apierrors.IsForbidden(refusal)
	})
	return refusal.Error()
}

// tolerations returns the pod's tolerations without those that every pod gets.
func tolerations(pod *corev1.Pod) []corev1.Toleration {
	var out []corev1.Toleration
	for _, toleration := range pod.Spec.Tolerations {
		if toleration.Key != corev1.TaintNodeNotReady && toleration.Key != corev1.TaintNodeUnreachable {
			out = append(out, toleration)
		}
	}
	return out
}

// scheduling is where a pod goes.
type scheduling struct {
	class, pool string
	selector    map[string]string
	tolerations []corev1.Toleration
}

func wantScheduling(t *testing.T, pod *corev1.Pod, want scheduling) {
	t.Helper()
	got := scheduling{
		pool: pod.Labels[nodesv1.PoolLabel], selector: pod.Spec.NodeSelector, tolerations: tolerations(pod),
	}
	if pod.Spec.RuntimeClassName != nil {
		got.class = *pod.Spec.RuntimeClassName
	}
	less := func(a, b corev1.Toleration) bool { return a.Key+a.Value < b.Key+b.Value }
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(scheduling{}), cmpopts.EquateEmpty(), cmpopts.SortSlices(less)); diff != "" {
		t.Errorf("the pod is not where it should be (-want +got):\n%s", diff)
	}
}
