// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is what a test of the reconciler plays on.
type stage struct {
	*testkit.Harness

	t         *testing.T
	r         *Reconciler
	namespace string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t, AddIndexes, kube.IndexNodes(membership.Concerned))
	return &stage{Harness: h, t: t, r: New(h.Client, h.Live, h.Events, h.Clock.Now, ""), namespace: h.Namespace(t)}
}

// podSet creates a PodSet "web" of three pods, changed as asked, and lets it settle.
func (s *stage) podSet(change ...func(*appsv1alpha1.PodSet)) *appsv1alpha1.PodSet {
	s.t.Helper()
	podSet := aPodSet(change...)
	podSet.Namespace, podSet.UID, podSet.Generation = s.namespace, "", 0
	s.Create(s.t, podSet)
	s.settle(podSet)
	return podSet
}

// settle lets the PodSet settle, and then tell how far it is, which waits for a while.
func (s *stage) settle(podSet *appsv1alpha1.PodSet) {
	s.t.Helper()
	s.Settle(s.t, s.r, podSet)
	s.Clock.Step(time.Second)
	s.Settle(s.t, s.r, podSet)
	if status.Unwritten(podSet.Status.Conditions) {
		s.t.Error("the settled PodSet has no status")
	}
}

// edit changes the PodSet as a user would, and lets it settle.
func (s *stage) edit(podSet *appsv1alpha1.PodSet, change func(*appsv1alpha1.PodSet)) {
	s.t.Helper()
	testkit.Edit(s.t, s.Harness, podSet, change)
	s.settle(podSet)
}

// deployment reads the Deployment of that name.
func (s *stage) deployment(name string) *appsv1.Deployment {
	s.t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	if !s.Get(s.t, deployment) {
		s.t.Fatalf("there is no Deployment %q", name)
	}
	return deployment
}

// rolledOut makes the Deployment say that all its pods are available, as its controller would.
func (s *stage) rolledOut(name string) {
	s.t.Helper()
	testkit.EditStatus(s.t, s.Harness, s.deployment(name), func(d *appsv1.Deployment) {
		size := *d.Spec.Replicas
		replicas(d, size, size, size)
		d.Status.ObservedGeneration = d.Generation
		d.Status.Conditions = []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
		}
	})
}

// pod creates a pod with the labels of the PodSet of that name.
func (s *stage) pod(name, podSet string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: podLabels(podSet)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "podset", Image: "busybox"}}},
	}
	for _, c := range change {
		c(pod)
	}
	s.Create(s.t, pod)
	return pod
}

func (s *stage) wantConditions(podSet *appsv1alpha1.PodSet, want map[string]string) {
	s.t.Helper()
	if diff := cmp.Diff(want, pick(podSet, want)); diff != "" {
		s.t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func (s *stage) wantEvents(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.Events.Reasons(), cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestThePodSetOfTheArticleBecomesItsDeployment(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	got := s.deployment("web")
	labels := map[string]string{"app": "podSet", "podSet_cr": "web"}
	want := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: s.namespace, Labels: labels,
			Annotations: map[string]string{patch.AppliedHashAnnotation: got.Annotations[patch.AppliedHashAnnotation]},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Name: "web", UID: podSet.UID,
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "podset", Image: "busybox", Command: []string{"sleep", "3600"},
					Ports: []corev1.ContainerPort{{Name: "podset", ContainerPort: 1234, Protocol: "TCP"}},
				}}},
			},
		},
	}
	if diff := cmp.Diff(want, got,
		cmpopts.IgnoreFields(metav1.ObjectMeta{}, "UID", "ResourceVersion", "Generation", "CreationTimestamp", "ManagedFields"),
		cmpopts.IgnoreFields(appsv1.DeploymentSpec{}, "Strategy", "ProgressDeadlineSeconds", "RevisionHistoryLimit"),
		cmpopts.IgnoreFields(corev1.PodSpec{}, "RestartPolicy", "TerminationGracePeriodSeconds", "DNSPolicy", "SecurityContext", "SchedulerName"),
		cmpopts.IgnoreFields(corev1.Container{}, "TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy"),
	); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
	s.wantEvents("DeploymentCreated")
	s.wantConditions(podSet, map[string]string{
		"Ready":       "Unknown DeploymentPending: the Deployment controller has not observed the Deployment",
		"Reconciling": "True DeploymentPending: the Deployment controller has not observed the Deployment",
	})

	s.rolledOut("web")
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{
		"Ready": "True Ready: 3 pods are available", "Available": "True MinimumReplicasAvailable: ",
		"Progressing": "True NewReplicaSetAvailable: ", "ChildConflict": "False NoConflict: ",
	})
	counts := []int32{
		podSet.Status.Replicas, podSet.Status.ReadyReplicas, podSet.Status.AvailableReplicas, podSet.Status.UpdatedReplicas,
	}
	if diff := cmp.Diff([]int32{3, 3, 3, 3}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// A status that said only that work has begun, and others that counted pods, were three of five writes.
func TestAPodSetWritesItsDeploymentAndOneStatus(t *testing.T) {
	s := newStage(t)
	podSet := aPodSet()
	podSet.Namespace, podSet.UID, podSet.Generation = s.namespace, "", 0
	s.Create(t, podSet)
	for available := range int32(3) {
		s.Settle(t, s.r, podSet)
		s.Clock.Step(200 * time.Millisecond)
		testkit.EditStatus(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
			replicas(d, 3, 3, available)
			d.Status.ObservedGeneration = d.Generation
		})
	}
	s.rolledOut("web")
	s.Settle(t, s.r, podSet)
	s.wantConditions(podSet, map[string]string{"Ready": "True Ready: 3 pods are available"})
	s.wantEvents("DeploymentCreated")
	if s.Writes() != 2 {
		t.Errorf("%d writes, want 2: the Deployment and the status", s.Writes())
	}
}

func TestSizeIsFollowed(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.rolledOut("web")
	s.settle(podSet)
	s.Events.Take()

	for _, size := range []int32{5, 2} {
		s.edit(podSet, sized(size))
		if got := *s.deployment("web").Spec.Replicas; got != size {
			t.Errorf("got %d replicas, want %d", got, size)
		}
		s.wantEvents("Scaled")
		if ready := pick(podSet, map[string]string{"Ready": ""})["Ready"]; strings.HasPrefix(ready, "True") {
			t.Errorf("Ready is %q before a pod has come or gone", ready)
		}
		s.rolledOut("web")
		s.settle(podSet)
		s.wantConditions(podSet, map[string]string{"Ready": fmt.Sprintf("True Ready: %d pods are available", size)})
	}
}

func TestAnOldStatusOfTheDeploymentIsNotTakenForTheNewSpec(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.rolledOut("web")
	s.settle(podSet)
	s.edit(podSet, withTemplate)
	s.wantConditions(podSet, map[string]string{
		"Ready": "Unknown DeploymentPending: the Deployment controller has not observed the Deployment",
	})
	s.wantEvents("DeploymentCreated", "DeploymentUpdated")
}

func TestScalingToZeroAndBackKeepsNodesAList(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(sized(1))
	pod := s.pod("web-1", "web")
	s.rolledOut("web")
	s.settle(podSet)

	raw := func() any {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(appsv1alpha1.SchemeGroupVersion.WithKind("PodSet"))
		object.SetNamespace(s.namespace)
		object.SetName("web")
		s.Get(t, object)
		nodes, found, _ := unstructured.NestedFieldNoCopy(object.Object, "status", "nodes")
		if !found {
			return "none"
		}
		return nodes
	}
	if diff := cmp.Diff([]any{"web-1"}, raw()); diff != "" {
		t.Errorf("one pod (-want +got):\n%s", diff)
	}

	s.edit(podSet, sized(0))
	if err := s.Live.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.rolledOut("web")
	s.settle(podSet)
	if diff := cmp.Diff([]any{}, raw()); diff != "" {
		t.Errorf("no pods (-want +got):\n%s", diff)
	}
	s.wantConditions(podSet, map[string]string{"Ready": "True Ready: spec.size is 0: the PodSet has no pods"})

	s.edit(podSet, sized(1))
	s.pod("web-2", "web")
	s.rolledOut("web")
	s.settle(podSet)
	if diff := cmp.Diff([]any{"web-2"}, raw()); diff != "" {
		t.Errorf("one pod again (-want +got):\n%s", diff)
	}
}

func TestTheFirstStatusOfNoPodsIsWritten(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(sized(0))
	if podSet.Status.Nodes == nil || podSet.Status.ObservedGeneration != 1 {
		t.Errorf("got the status %+v", podSet.Status)
	}
}

func TestNodesAreSortedAndStable(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	for _, name := range []string{"web-c", "web-a", "web-e", "web-b", "web-d"} {
		s.pod(name, "web")
	}
	s.pod("foreign", "other")
	s.settle(podSet)
	want := []string{"web-a", "web-b", "web-c", "web-d", "web-e"}
	if diff := cmp.Diff(want, podSet.Status.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	version := podSet.ResourceVersion
	for range 10 {
		s.settle(podSet) // the cache lists in random order
	}
	if podSet.ResourceVersion != version {
		t.Error("the status was written again though nothing has changed")
	}
}

func TestPodsThatChangeAfterTheDeploymentSettledReachTheStatus(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	first := s.pod("web-1", "web")
	s.pod("web-2", "web")
	s.rolledOut("web")
	s.settle(podSet)
	version := s.deployment("web").ResourceVersion

	if err := s.Live.Delete(t.Context(), first, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.pod("web-3", "web")
	s.settle(podSet)
	if diff := cmp.Diff([]string{"web-2", "web-3"}, podSet.Status.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.deployment("web").ResourceVersion != version {
		t.Error("the Deployment was written though only pods have changed")
	}
}

func TestTerminatingAndFinishedPodsAreLeftOut(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.pod("web-1", "web")
	leaving := s.pod("web-2", "web", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} })
	failed, succeeded := s.pod("web-3", "web"), s.pod("web-4", "web")
	testkit.EditStatus(t, s.Harness, failed, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	testkit.EditStatus(t, s.Harness, succeeded, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	if err := s.Live.Delete(t.Context(), leaving, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.settle(podSet)
	if diff := cmp.Diff([]string{"web-1"}, podSet.Status.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	testkit.Edit(t, s.Harness, leaving, func(p *corev1.Pod) { p.Finalizers = nil })
}

func TestPlacementCountsPodsPerPool(t *testing.T) {
	s := newStage(t)
	on := func(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }
	node := func(suffix string, pools ...string) string {
		object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.namespace + suffix, Labels: map[string]string{}}}
		for _, pool := range pools {
			object.Labels[nodesv1.MemberLabel(pool)] = ""
		}
		s.Create(t, object)
		return object.Name
	}
	podSet := s.podSet()
	if podSet.Status.Placement != nil {
		t.Errorf("placement of no pods: %v", podSet.Status.Placement)
	}
	s.pod("web-1", "web", on(node("-both", "red", "blue")))
	s.pod("web-2", "web", on(node("-red", "red")))
	s.pod("web-3", "web", on(node("-none")))
	s.pod("web-4", "web", on("gone"))
	s.pod("web-5", "web")
	s.settle(podSet)
	want := []appsv1alpha1.PodPlacement{{NodePool: "", Pods: 2}, {NodePool: "blue", Pods: 1}, {NodePool: "red", Pods: 2}}
	if diff := cmp.Diff(want, podSet.Status.Placement); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*appsv1.Deployment){
		"somebody scales the Deployment": func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) },
		"somebody changes the image":     func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil" },
		"somebody changes a label":       func(d *appsv1.Deployment) { d.Labels["podSet_cr"] = "other" },
		"somebody removes a label":       func(d *appsv1.Deployment) { delete(d.Labels, "app") },
		"somebody pauses the rollout":    func(d *appsv1.Deployment) { d.Spec.Paused = true },
		"somebody sets minReadySeconds":  func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 60 },
		"somebody sets the deadline":     func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(5)) },
		"somebody removes the command":   func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Command = nil },
		"somebody removes the stamp":     func(d *appsv1.Deployment) { d.Annotations = nil },
		"somebody has the pods recreated": func(d *appsv1.Deployment) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		},
	}
	for sentence, change := range tests {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet()
			want := s.deployment("web")
			s.Events.Take()

			testkit.Edit(t, s.Harness, s.deployment("web"), change)
			s.settle(podSet)
			got := s.deployment("web")
			if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if reasons := s.Events.Reasons(); len(reasons) != 1 {
				t.Errorf("got the events %v, want one", reasons)
			}
		})
	}
}

// Each pass applied the Deployment anew, which changed nothing, and told of a repair.
func TestANameThatSomebodyGivesAPortIsNoDrift(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	})
	s.Events.Take()
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Ports[0].Name = "http" })
	s.settle(podSet)
	if got := s.deployment("web").Spec.Template.Spec.Containers[0].Ports[0].Name; got != "http" {
		t.Errorf("the name of the port is %q", got)
	}
	if reasons := s.Events.Reasons(); len(reasons) != 0 {
		t.Errorf("got the events %v, want none", reasons)
	}
}

// Each pass applied what a policy of somebody else turned back, and told of a repair.
func TestWhatAPolicyTurnsBackIsNotRepairedForEver(t *testing.T) {
	s := newStage(t)
	s.turnBack()
	podSet := s.podSet()
	s.Events.Take() // the first repair changes who owns the field
	s.settle(podSet)
	s.wantEvents()
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(9)) })
	s.settle(podSet)
	s.wantEvents("DriftRepaired")
	if got := s.deployment("web").Spec; *got.Replicas == 9 || got.MinReadySeconds != 7 {
		t.Errorf("the Deployment has %d pods and waits %d s", *got.Replicas, got.MinReadySeconds)
	}
}

// turnBack has a policy of somebody else set a field of each Deployment, and so turn back what a PodSet applies there.
func (s *stage) turnBack() {
	s.t.Helper()
	name := "patient-" + s.namespace
	s.Create(s.t, &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: "Object{spec: Object.spec{minReadySeconds: 7}}"},
			}},
		},
	})
	s.Create(s.t, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	})
	labels := map[string]string{"app": "probe"}
	probe := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "probe"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/none:1"}},
		}},
	}}
	testkit.Eventually(s.t, "the policy is in force", func() bool {
		tried := probe.DeepCopy()
		return s.Live.Create(s.t.Context(), tried, client.DryRunAll) == nil && tried.Spec.MinReadySeconds == 7
	})
}

func TestRollingStepsOfSomebodyElseDoNotKeepPodsFromBeingRecreated(t *testing.T) {
	s := newStage(t)
	recreate := func(p *appsv1alpha1.PodSet) {
		p.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	podSet := s.podSet(recreate)
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(2))},
		}
	})
	s.settle(podSet)
	want := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	if diff := cmp.Diff(want, s.deployment("web").Spec.Strategy); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.wantEvents("DeploymentCreated", "DriftRepaired")

	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.Strategy = nil })
	s.edit(podSet, recreate)
	if diff := cmp.Diff(want, s.deployment("web").Spec.Strategy); diff != "" {
		t.Errorf("after a change there and back (-want +got):\n%s", diff)
	}
}

func TestAFieldThatIsDroppedIsDroppedFromTheDeployment(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		p.Spec.Template.Spec.Containers[0].Args = []string{"-v"}
		p.Spec.MinReadySeconds = 7
		p.Spec.Paused = true
	})
	if s.deployment("web").Spec.Template.Spec.NodeSelector == nil {
		t.Fatal("the Deployment never had the field")
	}
	s.edit(podSet, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.NodeSelector = nil
		p.Spec.Template.Spec.Containers[0].Args = nil
		p.Spec.Template.Spec.Containers[0].Env = nil
		p.Spec.MinReadySeconds = 0
		p.Spec.Paused = false
	})
	spec := s.deployment("web").Spec
	container := spec.Template.Spec.Containers[0]
	if spec.Template.Spec.NodeSelector != nil || container.Args != nil || container.Env != nil || spec.MinReadySeconds != 0 ||
		spec.Paused {
		t.Errorf("fields are left: %+v", spec)
	}
}

func TestAnUnownedDeploymentOfThatNameIsLeftAlone(t *testing.T) {
	s := newStage(t)
	labels := map[string]string{"app": "legacy"}
	foreign := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "b"}}},
			},
		},
	}
	s.Create(t, foreign)
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = new(intstr.FromInt32(1)) })
	if got := s.deployment("web"); got.ResourceVersion != foreign.ResourceVersion {
		t.Errorf("the Deployment was touched: %+v", got)
	}
	text := `NameTaken: Deployment "web" exists and does not belong to this PodSet`
	s.wantConditions(podSet, map[string]string{
		"Ready": "False " + text, "Stalled": "True " + text, "ChildConflict": "True " + text, "Reconciling": "False Idle: ",
	})
	s.wantEvents("NameTaken")
	s.settle(podSet)
	s.wantEvents()

	if err := s.Live.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	s.settle(podSet)
	if !metav1.IsControlledBy(s.deployment("web"), podSet) {
		t.Error("the Deployment is not the PodSet's after the other one is gone")
	}
	s.wantConditions(podSet, map[string]string{"ChildConflict": "False NoConflict: ", "Stalled": "False NotStalled: "})
	s.wantEvents("DeploymentCreated")
}

func TestADeploymentThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold"} })
	leaving := s.deployment("web")
	if err := s.Live.Delete(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{
		"Reconciling": `True DeploymentTerminating: waiting for Deployment "web" to be deleted`,
		"Ready":       `Unknown DeploymentTerminating: waiting for Deployment "web" to be deleted`,
	})
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { d.Finalizers = nil })
	s.settle(podSet)
	if s.deployment("web").UID == leaving.UID {
		t.Error("the Deployment is still the old one")
	}
}

func TestNamesOverSixtyThreeCharactersWork(t *testing.T) {
	s := newStage(t)
	name := strings.Repeat("long-", 13) + "name"
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Name = name })
	value := s.deployment(name).Spec.Template.Labels[appsv1alpha1.LabelPodSet]
	if len(value) != 63 {
		t.Errorf("got the label %q", value)
	}
	s.pod("long-1", name)
	s.rolledOut(name)
	s.settle(podSet)
	if diff := cmp.Diff([]string{"long-1"}, podSet.Status.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "app=podSet,podSet_cr=" + value; podSet.Status.Selector != want {
		t.Errorf("got the selector %q, want %q", podSet.Status.Selector, want)
	}
	s.wantConditions(podSet, map[string]string{"Ready": "True Ready: 3 pods are available"})
}

func TestAnAutoscalerUsesTheScaleSubresource(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.rolledOut("web")
	s.settle(podSet)

	scale := &autoscalingv1.Scale{}
	if err := s.Live.SubResource("scale").Get(t.Context(), podSet, scale); err != nil {
		t.Fatal(err)
	}
	want := autoscalingv1.ScaleStatus{Replicas: 3, Selector: "app=podSet,podSet_cr=web"}
	if diff := cmp.Diff(want, scale.Status); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	scale.Spec.Replicas = 6
	if err := s.Live.SubResource("scale").Update(t.Context(), podSet, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	s.settle(podSet)
	if got := *s.deployment("web").Spec.Replicas; got != 6 {
		t.Errorf("got %d replicas, want 6", got)
	}
	scale.Spec.Replicas = -1
	if err := s.Live.SubResource("scale").Update(t.Context(), podSet, client.WithSubResourceBody(scale)); err == nil {
		t.Error("a negative size was accepted")
	}
}

func TestABudgetFollowsMinAvailable(t *testing.T) {
	s := newStage(t)
	budget := func() *policyv1.PodDisruptionBudget {
		object := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
		if !s.Get(t, object) {
			return nil
		}
		return object
	}
	podSet := s.podSet()
	if budget() != nil {
		t.Fatal("there is a budget although minAvailable is not set")
	}
	for _, wish := range []intstr.IntOrString{intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromInt32(0)} {
		s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = &wish })
		got := budget()
		if got == nil || !metav1.IsControlledBy(got, podSet) {
			t.Fatalf("no budget of the PodSet's own: %+v", got)
		}
		if diff := cmp.Diff(&wish, got.Spec.MinAvailable); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(s.deployment("web").Spec.Selector, got.Spec.Selector); diff != "" {
			t.Errorf("selector (-want +got):\n%s", diff)
		}
	}

	testkit.Edit(t, s.Harness, budget(), func(b *policyv1.PodDisruptionBudget) {
		b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, new(intstr.FromInt32(1))
	})
	s.Events.Take()
	s.settle(podSet)
	if got := budget().Spec; got.MaxUnavailable != nil || got.MinAvailable == nil {
		t.Errorf("the budget is as somebody else made it: %+v", got)
	}
	s.wantEvents("DriftRepaired")

	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = nil })
	if budget() != nil {
		t.Error("the budget is still there")
	}
}

func TestABudgetOfSomebodyElseIsLeftAlone(t *testing.T) {
	s := newStage(t)
	foreign := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))},
	}
	s.Create(t, foreign)
	podSet := s.podSet()
	s.wantConditions(podSet, map[string]string{"ChildConflict": "False NoConflict: "})

	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = new(intstr.FromInt32(1)) })
	s.wantConditions(podSet, map[string]string{
		"Stalled": `True NameTaken: PodDisruptionBudget "web" exists and does not belong to this PodSet`,
	})
	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.MinAvailable = nil })
	s.wantConditions(podSet, map[string]string{"ChildConflict": "False NoConflict: ", "Stalled": "False NotStalled: "})
	version := foreign.ResourceVersion
	if s.Get(t, foreign); foreign.ResourceVersion != version {
		t.Error("the budget was touched")
	}
	s.wantEvents("DeploymentCreated", "NameTaken")
}

func TestARefusedTemplateStallsWithTheServersWordsAndRecovers(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) { p.Spec.Template.Spec.Containers[0].Name = "Not_A_Name" })
	stalled := pick(podSet, map[string]string{"Stalled": ""})["Stalled"]
	for _, words := range []string{"True ChildRefused: ", "spec.template.spec.containers[0].name: Invalid value", "Not_A_Name"} {
		if !strings.Contains(stalled, words) {
			t.Errorf("Stalled is %q, want %q in it", stalled, words)
		}
	}
	s.wantEvents("ChildRefused")

	before := s.Writes()
	s.pod("web-1", "web")
	s.settle(podSet)
	if got := s.Writes() - before; got != 1 {
		t.Errorf("a pod that came took %d writes, want the status and no second try", got)
	}
	s.Clock.Step(6 * time.Minute)
	before = s.Writes()
	s.settle(podSet)
	if got := s.Writes() - before; got != 1 {
		t.Errorf("after a rest there were %d writes, want one more try", got)
	}
	s.wantEvents()

	s.edit(podSet, withTemplate)
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	s.rolledOut("web")
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Ready": "True Ready: 3 pods are available"})
}

func TestARefusedChangeLeavesThePodsRunning(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate)
	s.rolledOut("web")
	s.settle(podSet)
	s.edit(podSet, func(p *appsv1alpha1.PodSet) {
		p.Spec.ProgressDeadlineSeconds, p.Spec.MinReadySeconds = new(int32(5)), 10
	})
	if got := pick(podSet, map[string]string{"Ready": ""})["Ready"]; !strings.HasPrefix(got, "False ChildRefused: ") {
		t.Errorf("Ready is %q", got)
	}
	s.wantConditions(podSet, map[string]string{"Available": "True MinimumReplicasAvailable: "})
}

func TestAnAdditionThatContradictsTheTemplateIsTold(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate)
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Env[0] = corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
		}}
	})
	s.settle(podSet)
	if got := pick(podSet, map[string]string{"Stalled": ""})["Stalled"]; !strings.Contains(got, "env[0].valueFrom") {
		t.Errorf("Stalled is %q", got)
	}
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = nil })
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	want := []corev1.EnvVar{{Name: "A", Value: "1"}}
	if diff := cmp.Diff(want, s.deployment("web").Spec.Template.Spec.Containers[0].Env); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.wantEvents("DeploymentCreated", "ChildRefused", "DriftRepaired")
}

func TestAPausedPodSetIsObservedButNotActedOn(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.rolledOut("web")
	s.settle(podSet)
	s.edit(podSet, func(p *appsv1alpha1.PodSet) {
		p.Annotations = map[string]string{status.PausedAnnotation: "true"}
		p.Spec.Size = 5
	})
	s.pod("web-1", "web")
	s.settle(podSet)
	if got := *s.deployment("web").Spec.Replicas; got != 3 {
		t.Errorf("a paused PodSet was scaled to %d", got)
	}
	if diff := cmp.Diff([]string{"web-1"}, podSet.Status.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	s.wantConditions(podSet, map[string]string{
		"Paused": `True Paused: Windlass does not act on this object while the annotation windlass.io/paused is "true"`,
		"Ready":  "False Paused: waiting for the annotation windlass.io/paused to be removed",
	})
	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Annotations = nil })
	if got := *s.deployment("web").Spec.Replicas; got != 5 {
		t.Errorf("got %d replicas after the pause, want 5", got)
	}
}

func TestADeletedPodSetIsLeftToTheGarbageCollector(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) { p.Finalizers = []string{"example.com/hold"} })
	for _, object := range []client.Object{podSet, s.deployment("web")} {
		if err := s.Live.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	before := s.Writes()
	s.settle(podSet)
	if s.Writes() != before {
		t.Error("something was written for a PodSet that is being deleted")
	}
	testkit.Edit(t, s.Harness, podSet, func(p *appsv1alpha1.PodSet) { p.Finalizers = nil })
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(podSet))
}

func TestTheCostOfAPodSetIsCounted(t *testing.T) {
	s := newStage(t)
	before := s.Writes()
	podSet := s.podSet()
	if got := s.Writes() - before; got != 2 {
		t.Errorf("creating took %d writes, want the Deployment and the status", got)
	}
	s.rolledOut("web")
	before = s.Writes()
	s.settle(podSet)
	if got := s.Writes() - before; got != 1 {
		t.Errorf("a rolled out Deployment took %d writes, want the status", got)
	}
	before = s.Writes()
	for range 5 {
		s.settle(podSet)
	}
	if got := s.Writes() - before; got != 0 {
		t.Errorf("nothing has changed, and still there were %d writes", got)
	}
}

func TestARichTemplateSettles(t *testing.T) {
	s := newStage(t)
	object := manifest(t, s.namespace, richSpec)
	object.SetName("rich")
	s.Create(t, object)
	podSet := aPodSet(func(p *appsv1alpha1.PodSet) { p.Name, p.Namespace = "rich", s.namespace })
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	s.wantEvents("DeploymentCreated")
	// What others add is theirs, and no reason to write again and again.
	testkit.Edit(t, s.Harness, s.deployment("rich"), func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = "now"
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "b"})
		d.Spec.Template.Spec.Containers[0].Ports = append(d.Spec.Template.Spec.Containers[0].Ports,
			corev1.ContainerPort{ContainerPort: 9999})
	})
	s.settle(podSet)
	s.wantEvents()
}

// richSpec uses what a comparison with the stored object may stumble over: quantities, defaults, lists with and without
// keys, numbers and strings that mean the same.
const richSpec = `
size: 2
minReadySeconds: 3
nodePool: batch
strategy: {rollingUpdate: {maxSurge: 1}}
template:
  metadata:
    labels: {tier: front}
    annotations: {note: "1"}
  spec:
    nodeSelector: {disk: ssd}
    tolerations: [{key: a, operator: Exists}, {key: b, value: c, effect: NoSchedule, tolerationSeconds: null}]
    securityContext: {}
    hostAliases: [{ip: 10.0.0.1, hostnames: [a, b]}]
    topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {tier: front}}}
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]
    initContainers: [{name: init, image: busybox, command: ["true"]}]
    containers:
    - name: web
      image: nginx
      resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {cpu: "1", memory: 1Gi, ephemeral-storage: 1e3}}
      env: [{name: A, value: ""}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
      ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]
      readinessProbe: {httpGet: {path: /, port: 80}}
      lifecycle: {preStop: {sleep: {seconds: 1}}}
      volumeMounts: [{name: tmp, mountPath: /tmp}, {name: tmp, mountPath: /cache, subPath: cache}, {name: cfg, mountPath: /etc/c}]
    volumes:
    - {name: tmp, emptyDir: {}}
    - {name: cfg, configMap: {name: cfg, items: [{key: a, path: a}]}}
    - name: all
      projected: {sources: [{configMap: {name: x}}, {serviceAccountToken: {path: token}}]}
`

// Who could create PodSets filled the memory of the manager with templates of a megabyte.
func TestAttackATemplateIsTooLarge(t *testing.T) {
	s := newStage(t)
	large := strings.Repeat("x", appsv1alpha1.MaxTemplateBytes)
	podSet := s.podSet(func(p *appsv1alpha1.PodSet) {
		p.Spec.Template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "c", Image: "busybox", Env: []corev1.EnvVar{{Name: "LARGE", Value: large}},
		}}}}
	})
	message := fmt.Sprintf("TemplateTooLarge: spec.template has %d bytes: must have at most 65536; put what is large into ConfigMaps",
		podSet.Spec.Template.Size())
	s.wantConditions(podSet, map[string]string{"Ready": "False " + message, "Stalled": "True " + message})
	if s.Get(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: podSet.Name}}) {
		t.Error("there is a Deployment")
	}
	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.Template.Spec.Containers[0].Env = nil })
	s.deployment(podSet.Name)
}

// What others add to a Deployment filled the memory of the manager as well. Of one that the cache does not keep, it is unknown what differs: it is left
// as it is, and not applied in each pass.
func TestAttackAChildIsTooLarge(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.Events.Take()
	testkit.Edit(t, s.Harness, s.deployment(podSet.Name), func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LARGE", Value: strings.Repeat("x", kube.MaxChildBytes)}}
	})
	s.rolledOut(podSet.Name)
	large := s.deployment(podSet.Name)
	s.settle(podSet)
	if now := s.deployment(podSet.Name); now.ResourceVersion != large.ResourceVersion {
		t.Errorf("the Deployment was written: %+v", now)
	}
	large.ManagedFields = nil
	message := fmt.Sprintf(`TemplateTooLarge: Deployment "web" has %d bytes: must have at most 262144; take away what others have added to it`, large.Size())
	s.wantConditions(podSet, map[string]string{"Ready": "False " + message, "Stalled": "True " + message})
	if podSet.Status.Replicas != 3 {
		t.Errorf("the PodSet says that it has %d pods, want the 3 that there are", podSet.Status.Replicas)
	}
	s.wantEvents("TemplateTooLarge")
	testkit.Edit(t, s.Harness, s.deployment(podSet.Name), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = nil })
	s.settle(podSet)
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	s.wantEvents()
}
