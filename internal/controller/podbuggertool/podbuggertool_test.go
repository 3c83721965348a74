// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// livePods reads pods without a cache, so that each pass sees what the test did before it.
type livePods struct {
	client.Client

	err error
}

// read implements podSource.
func (p *livePods) read(ctx context.Context, tool client.ObjectKey, asked query) (sample, error) {
	if p.err != nil {
		return sample{}, p.err
	}
	var list corev1.PodList
	if err := p.List(ctx, &list, client.InNamespace(tool.Namespace)); err != nil {
		return sample{}, err
	}
	pods := newRoster(func(string) {})
	for i := range list.Items {
		pods.put(&list.Items[i])
	}
	return pods.sample(tool.Name, asked), nil
}

// wrote implements podSource.
func (p *livePods) wrote(*corev1.Pod, []corev1.EphemeralContainer) {}

// forget implements podSource.
func (p *livePods) forget(client.ObjectKey) {}

// close implements podSource.
func (p *livePods) close(string) {}

// stage is what a test of the reconciler plays on.
type stage struct {
	*testkit.Harness

	t         *testing.T
	r         *Reconciler
	pods      *livePods
	namespace string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	h := testkit.New(t)
	pods := &livePods{Client: h.Live}
	return &stage{Harness: h, t: t, r: New(h.Client, h.Direct, pods, h.Events, h.Clock.Now), pods: pods, namespace: h.Namespace(t)}
}

// tool creates a tool, changed as asked, and lets it settle.
func (s *stage) tool(change ...func(*appsv1alpha1.PodBuggerTool)) *appsv1alpha1.PodBuggerTool {
	s.t.Helper()
	tool := aTool(change...)
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(s.t, tool)
	s.Settle(s.t, s.r, tool)
	return tool
}

// pod creates a pod with the label app=web, and makes it run.
func (s *stage) pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "busybox"}}},
	}
	for _, c := range change {
		c(pod)
	}
	s.Create(s.t, pod)
	s.phase(pod, corev1.PodRunning)
	return pod
}

func (s *stage) phase(pod *corev1.Pod, phase corev1.PodPhase) {
	s.t.Helper()
	testkit.EditStatus(s.t, s.Harness, pod, func(p *corev1.Pod) { p.Status.Phase = phase })
}

// reports makes the pod's node say what has become of the container.
func (s *stage) reports(pod *corev1.Pod, container string, state corev1.ContainerState) {
	s.t.Helper()
	testkit.EditStatus(s.t, s.Harness, pod, func(p *corev1.Pod) {
		p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: container, State: state}}
	})
}

// wantTools checks which ephemeral containers a pod has, by name.
func (s *stage) wantTools(pod *corev1.Pod, want ...string) {
	s.t.Helper()
	s.Get(s.t, pod)
	var got []string
	for _, container := range pod.Spec.EphemeralContainers {
		got = append(got, container.Name)
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(want, got, sorted, cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("ephemeral containers of %s (-want +got):\n%s", pod.Name, diff)
	}
}

func (s *stage) wantCounts(tool *appsv1alpha1.PodBuggerTool, matched, installed, failed int32) {
	s.t.Helper()
	got := [3]int32{tool.Status.Matched, tool.Status.Installed, tool.Status.Failed}
	if want := [3]int32{matched, installed, failed}; got != want {
		s.t.Errorf("matched, installed, failed are %v, want %v", got, want)
	}
}

// wantCondition checks status, reason and message of a condition, as in "False Reason: message".
func (s *stage) wantCondition(tool *appsv1alpha1.PodBuggerTool, conditionType, want string) {
	s.t.Helper()
	if got := testkit.Condition(tool, conditionType); !testkit.Reads(got, want) {
		s.t.Errorf("condition %s is %q, want %q", conditionType, got, want)
	}
}

// conflicting is a client whose first write to a subresource meets a conflict.
type conflicting struct {
	client.Client

	met bool
}

// SubResource implements client.Client.
func (c *conflicting) SubResource(name string) client.SubResourceClient {
	return &conflictingWriter{c.Client.SubResource(name), c}
}

type conflictingWriter struct {
	client.SubResourceClient

	of *conflicting
}

// Patch implements client.SubResourceWriter.
func (w *conflictingWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if !w.of.met {
		w.of.met = true
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, object.GetName(), errors.New("try again"))
	}
	return w.SubResourceClient.Patch(ctx, object, patch, options...)
}

func TestAPodThatMetAConflictGetsItsTool(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web")
	s.r = New(s.Client, &conflicting{Client: s.Direct}, s.pods, s.Events, s.Clock.Now)
	tool := aTool()
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	if _, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool)); !apierrors.IsConflict(err) {
		t.Errorf("the pass ends with %v, want the conflict: nothing else brings the tool back", err)
	}
	s.Settle(t, s.r, tool)
	s.wantTools(pod, tool.Status.Pods[0].Container)
}

func TestARunningPodGetsTheToolOfTheArticle(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	own := containerOf(tool)
	s.Get(t, pod)
	want := []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: own.Name, Image: "busybox", Command: []string{"sh"}, Stdin: true, TTY: true,
			ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			Env:                      []corev1.EnvVar{{Name: "WINDLASS_TOOL", Value: tool.Name}, {Name: "WINDLASS_TOOL_UID", Value: string(tool.UID)}},
		},
	}}
	if diff := cmp.Diff(want, pod.Spec.EphemeralContainers); diff != "" {
		t.Errorf("ephemeral containers (-want +got):\n%s", diff)
	}
	s.wantCounts(tool, 1, 1, 0)
	s.wantCondition(tool, status.Ready, `True Ready: 1 pod has the container "`+own.Name+`"`)
	s.wantCondition(tool, appsv1alpha1.ConditionInstalled, `True ToolInstalled: 1 pod has the container "`+own.Name+`"`)
	wantPods := []appsv1alpha1.PodTool{{Name: "web-1", Container: own.Name, State: appsv1alpha1.ToolStarting}}
	if diff := cmp.Diff(wantPods, tool.Status.Pods); diff != "" {
		t.Errorf("status.pods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ToolInstalled", "ToolInstalled"}, s.Events.Reasons()); diff != "" {
		t.Errorf("events, one on the pod and one on the tool (-want +got):\n%s", diff)
	}
}

func TestAPodThatComesLaterGetsTheToolWhenItRuns(t *testing.T) {
	s := newStage(t)
	tool := s.tool()
	s.wantCondition(tool, appsv1alpha1.ConditionInstalled, "True NoPodMatches: no pod in the namespace matches app=web")
	s.wantCondition(tool, status.Ready, "True NoPodMatches: no pod in the namespace matches app=web")
	pod := s.pod("web-1")
	s.phase(pod, corev1.PodPending)
	s.Settle(t, s.r, tool)
	s.wantTools(pod)
	s.wantCondition(tool, status.Ready, "False WaitingForPods: waiting for pod web-1 to run")
	s.phase(pod, corev1.PodRunning)
	s.Settle(t, s.r, tool)
	s.wantTools(pod, containerOf(tool).Name)
	s.wantCondition(tool, status.Ready, `True Ready: 1 pod has the container "`+containerOf(tool).Name+`"`)
}

func TestSeveralToolsComeInOneWriteAndNothingOfThePodIsLost(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	s.addByHand(pod, "mine")
	tracer := aTool(named("tracer"))
	tracer.Namespace, tracer.UID = s.namespace, ""
	s.Create(t, tracer)
	before := pod.Generation
	probe := s.tool()
	s.wantTools(pod, "mine", containerOf(probe).Name, containerOf(tracer).Name)
	if got := pod.Generation - before; got > 2 { // one by hand, one by us
		t.Errorf("the pod's spec was written %d times", got)
	}
	writes := s.Writes()
	s.Settle(t, s.r, tracer)
	s.wantCounts(tracer, 1, 1, 0)
	if got := s.Writes() - writes; got != 1 {
		t.Errorf("the second tool's pass sent %d writes, want its status alone", got)
	}
}

// addByHand gives the pod an ephemeral container, as "kubectl debug" does.
func (s *stage) addByHand(pod *corev1.Pod, name string) {
	s.t.Helper()
	s.Get(s.t, pod)
	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "alpine"},
	})
	if err := s.Live.SubResource(subresource).Update(s.t.Context(), pod); err != nil {
		s.t.Fatal(err)
	}
}

func TestARestartAndALostStatusInstallNothingTwice(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	testkit.EditStatus(t, s.Harness, tool, func(p *appsv1alpha1.PodBuggerTool) { p.Status = appsv1alpha1.PodBuggerToolStatus{} })
	s.r = New(s.Client, s.Direct, s.pods, s.Events, s.Clock.Now)
	s.Settle(t, s.r, tool)
	s.wantTools(pod, containerOf(tool).Name)
	s.wantCounts(tool, 1, 1, 0)
}

func TestAnotherNamespaceIsNeverTouched(t *testing.T) {
	s := newStage(t)
	elsewhere := s.pod("web-1", func(p *corev1.Pod) { p.Namespace = s.Namespace(t) })
	tool := s.tool()
	s.wantTools(elsewhere)
	s.wantCounts(tool, 0, 0, 0)
}

func TestANewImageIsAFurtherContainer(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	first := containerOf(tool).Name
	testkit.Edit(t, s.Harness, tool, func(p *appsv1alpha1.PodBuggerTool) { p.Spec.Image = "127.0.0.1:5000/tools/net:1.2" })
	s.Settle(t, s.r, tool)
	s.wantTools(pod, first, containerOf(tool).Name)
	s.wantCounts(tool, 1, 1, 0)
}

func TestMaxPodsBoundsTheBlast(t *testing.T) {
	s := newStage(t)
	one, two := s.pod("web-1"), s.pod("web-2")
	tool := s.tool(atMost(1))
	s.wantTools(one, containerOf(tool).Name)
	s.wantTools(two)
	s.wantCounts(tool, 2, 1, 0)
	s.wantCondition(tool, status.Ready, `True Ready: 1 pod has the container "`+containerOf(tool).Name+`"`)
	s.wantCondition(tool, appsv1alpha1.ConditionLimited,
		"True MaxPodsReached: 1 matching pod is left out because spec.maxPods is 1")
	if err := s.Live.Delete(t.Context(), one, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, tool)
	s.wantTools(two, containerOf(tool).Name)
	s.wantCondition(tool, appsv1alpha1.ConditionLimited, "False WithinLimit")
}

func TestPodSecurityRefusesInItsOwnWords(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	enforce := func(level string) {
		testkit.Edit(t, s.Harness, namespace, func(n *corev1.Namespace) {
			n.Labels["pod-security.kubernetes.io/enforce"] = level
		})
	}
	enforce("baseline")
	privileged := func(p *appsv1alpha1.PodBuggerTool) {
		p.Spec.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	}
	// The API server learns of the namespace's label by a watch of its own.
	testkit.Eventually(t, "Pod Security refuses privileged containers", func() bool {
		probe := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, GenerateName: "probe-"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "app", Image: "busybox", SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			}}},
		}
		return s.Live.Create(t.Context(), probe, client.DryRunAll) != nil
	})
	tool := s.tool(privileged)
	s.wantTools(pod)
	s.wantCounts(tool, 1, 0, 1)
	s.wantCondition(tool, status.Stalled, `True ToolRefused: the API server rejected the tool in pod web-1: pods "web-1" is forbidden: `+
		`violates PodSecurity "baseline:latest": privileged (container "`+containerOf(tool).Name+`" must not set securityContext.privileged=true)`)
	if message := tool.Status.Pods[0].Message; !strings.Contains(message, "violates PodSecurity") {
		t.Errorf("the message is %q", message)
	}

	writes := s.Writes()
	if _, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool)); err != nil || s.Writes() != writes {
		t.Errorf("a refused write is sent again: %d writes, %v", s.Writes()-writes, err)
	}
	enforce("privileged")
	testkit.Eventually(t, "the refusal is tried again later and accepted", func() bool {
		s.Clock.Step(flow.RecheckStalled)
		s.Settle(t, s.r, tool)
		return apimeta.IsStatusConditionTrue(tool.Status.Conditions, status.Ready)
	})
	s.wantTools(pod, containerOf(tool).Name)
}

func TestATargetThatThePodLacksIsRefusedAndTheOthersGetTheTool(t *testing.T) {
	s := newStage(t)
	other := func(p *corev1.Pod) { p.Spec.Containers[0].Name = "other" }
	s.pod("web-1", other)
	good := s.pod("web-2")
	tool := s.tool(func(p *appsv1alpha1.PodBuggerTool) { p.Spec.TargetContainer = "app" })
	s.wantTools(good, containerOf(tool).Name)
	s.wantCounts(tool, 2, 1, 1)
	s.wantCondition(tool, status.Ready, `False ToolRefused: the API server rejected the tool in pod web-1: Pod "web-1" is invalid: `+
		`spec.ephemeralContainers[0].targetContainerName: Not found: "app"`)
}

// TestAPodThatRefusesTheToolKeepsItFromOthers has a place for one pod, and the oldest does not take it.
func TestAPodThatRefusesTheToolKeepsItFromOthers(t *testing.T) {
	s := newStage(t)
	s.pod("web-1", func(p *corev1.Pod) { p.Spec.Containers[0].Name = "other" })
	good := s.pod("web-2")
	tool := aTool(atMost(1), func(p *appsv1alpha1.PodBuggerTool) { p.Spec.TargetContainer = "app" })
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool))
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
		t.Errorf("the place is given to another pod after %s (%v)", result.RequeueAfter, err)
	}
	s.Settle(t, s.r, tool)
	s.wantTools(good, containerOf(tool).Name)
	s.wantCounts(tool, 2, 1, 0)
	s.wantCondition(tool, status.Ready, "True Ready: …")
	s.wantCondition(tool, appsv1alpha1.ConditionLimited, "True MaxPodsReached: 1 matching pod is left out because spec.maxPods is 1")
}

// failing is a client whose writes to a subresource of some pods are answered with an error.
type failing struct {
	client.Client

	fails func(pod, body string) bool
}

// SubResource implements client.Client.
func (f *failing) SubResource(name string) client.SubResourceClient {
	return &failingWriter{f.Client.SubResource(name), f.fails}
}

type failingWriter struct {
	client.SubResourceClient

	fails func(pod, body string) bool
}

// Patch implements client.SubResourceWriter.
func (w *failingWriter) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	body, err := patch.Data(object)
	if err != nil {
		return err
	}
	if w.fails(object.GetName(), string(body)) {
		return apierrors.NewInternalError(errors.New("the webhook does not answer"))
	}
	return w.SubResourceClient.Patch(ctx, object, patch, options...)
}

// A webhook of somebody else that is about some pods only was down: the oldest of them was tried first in each pass, which ended there.
func TestAPodWhoseWebhookIsDownKeepsTheToolFromOthers(t *testing.T) {
	s := newStage(t)
	first, second, third := s.pod("web-1"), s.pod("web-2"), s.pod("web-3")
	s.r = New(s.Client, &failing{s.Direct, func(pod, _ string) bool { return pod == first.Name }}, s.pods, s.Events, s.Clock.Now)
	tool := aTool()
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	_, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool))
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `cannot install the tool in Pod "web-1"`) {
		t.Errorf("the pass ends with %v, want the error about the first pod", err)
	}
	for pod, want := range map[*corev1.Pod][]string{first: nil, second: {containerOf(tool).Name}, third: {containerOf(tool).Name}} {
		s.wantTools(pod, want...)
	}
	s.r = New(s.Client, s.Direct, s.pods, s.Events, s.Clock.Now)
	s.Settle(t, s.r, tool)
	s.wantTools(first, containerOf(tool).Name)
	s.wantCounts(tool, 3, 3, 0)
}

// There is one worker for all tools of the cluster. A webhook that hung held it with each of its pods in turn, and with all of them in each pass.
func TestAWebhookThatHangsHoldsAllTools(t *testing.T) {
	s := newStage(t)
	s.pod("web-1")
	s.pod("web-2")
	young := s.pod("web-3")
	var hung []string
	hangs := func(pod, _ string) bool {
		if pod == young.Name {
			return false
		}
		s.Clock.Step(10 * time.Second)
		hung = append(hung, pod)
		return true
	}
	s.r = New(s.Client, &failing{s.Direct, hangs}, s.pods, s.Events, s.Clock.Now)
	tool := aTool()
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	for i, pass := range []struct {
		hung string
		// young is what the youngest pod has after the pass, and again says that the next one comes at once.
		young []string
		again bool
	}{
		{hung: "web-1", again: true},
		{hung: "web-2", again: true},
		{hung: "web-1", young: []string{containerOf(tool).Name}},
		{hung: "web-2", young: []string{containerOf(tool).Name}},
	} {
		hung = nil
		result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool))
		if again := err == nil && result.RequeueAfter > 0 && result.RequeueAfter < time.Second; again != pass.again || err != nil && !apierrors.IsInternalError(err) {
			t.Errorf("pass %d ends with %+v, %v", i+1, result, err)
		}
		if diff := cmp.Diff([]string{pass.hung}, hung); diff != "" {
			t.Errorf("pass %d hangs in (-want +got):\n%s", i+1, diff)
		}
		s.wantTools(young, pass.young...)
	}
	s.r = New(s.Client, s.Direct, s.pods, s.Events, s.Clock.Now)
	s.Settle(t, s.r, tool)
	s.wantCounts(tool, 3, 3, 0)
}

func TestHowAFailedWriteEndsAPass(t *testing.T) {
	t.Parallel()
	const pass, wait, fail = "the pass goes on", "another pass follows", "the pass fails"
	down := apierrors.NewInternalError(errors.New("the webhook does not answer"))
	pods := schema.GroupResource{Resource: "pods"}
	for sentence, tt := range map[string]struct {
		err  error
		lost time.Duration
		// after are the pods that come after the one that failed, before those that have failed already.
		after, failed []string
		want          string
	}{
		"at once":                                   {err: down, after: []string{"b"}, want: pass},
		"late, and others were not tried":           {err: down, lost: maxLost, after: []string{"b"}, want: wait},
		"late, and others were not tried, but once": {err: down, lost: maxLost, after: []string{"b"}, failed: []string{"b"}, want: fail},
		"late, and it was the last one":             {err: down, lost: maxLost, want: fail},
		"the API server is away":                    {err: apierrors.NewServiceUnavailable("stopping"), after: []string{"b"}, want: fail},
		"the API server is slow":                    {err: apierrors.NewTimeoutError("too slow", 1), after: []string{"b"}, want: fail},
		"the API server wants it later":             {err: apierrors.NewServerTimeout(pods, "patch", 1), after: []string{"b"}, want: fail},
		"the API server has too much to do":         {err: apierrors.NewTooManyRequests("too many", 1), after: []string{"b"}, want: fail},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			key, start := client.ObjectKey{Namespace: "shop", Name: "probe"}, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
			r := &Reconciler{now: func() time.Time { return start }}
			for _, name := range tt.failed {
				r.memory.failed(key, types.UID(name), start)
			}
			var steps []install
			for _, name := range append([]string{"a"}, tt.after...) {
				steps = append(steps, install{pod: build.Pod(name).UID(types.UID(name)).Obj()})
			}
			got := wait
			switch outcome := r.failing(t.Context(), key, steps, tt.lost, tt.err); {
			case outcome.IsDone():
				got = pass
			case outcome.Err() != nil:
				got = fail
			}
			if got != tt.want {
				t.Errorf("%s, want: %s", got, tt.want)
			}
		})
	}
}

func TestAToolThatIsRefusedDoesNotTakeItsCompanionAlong(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	broken := aTool(named("broken"), func(p *appsv1alpha1.PodBuggerTool) { p.Spec.TargetContainer = "nowhere" })
	broken.Namespace, broken.UID = s.namespace, ""
	s.Create(t, broken)
	tool := s.tool()
	s.wantTools(pod, containerOf(tool).Name)
	s.Settle(t, s.r, broken)
	s.wantCounts(broken, 1, 0, 1)
	s.wantTools(pod, containerOf(tool).Name)
}

// A webhook that failed for the image of one tool kept the others out of the same pods: each of their writes brought it along.
func TestAToolWhoseWebhookIsDownDoesNotKeepItsCompanionsOut(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	broken := aTool(named("broken"), func(p *appsv1alpha1.PodBuggerTool) { p.Spec.Image = "registry.example.com/broken:1" })
	broken.Namespace, broken.UID = s.namespace, ""
	s.Create(t, broken)
	s.r = New(s.Client, &failing{s.Direct, func(_, body string) bool { return strings.Contains(body, broken.Spec.Image) }}, s.pods, s.Events, s.Clock.Now)
	tool := aTool()
	tool.Namespace, tool.UID = s.namespace, ""
	s.Create(t, tool)
	for range 2 {
		_, _ = s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool)) // the first one fails with the companion
	}
	s.wantTools(pod, containerOf(tool).Name)
}

func TestWhatTheNodeSaysIsTold(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	own := containerOf(tool).Name
	for _, tt := range []struct {
		state     corev1.ContainerState
		want      appsv1alpha1.ToolState
		message   string
		condition string
	}{
		{
			corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
			appsv1alpha1.ToolStarting, "", "True ToolInstalled: 1 pod has the container \"" + own + "\"",
		},
		{
			corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}},
			appsv1alpha1.ToolFailed, "ImagePullBackOff: Back-off pulling image",
			"False ToolFailed: waiting for the container to run in pod web-1: ImagePullBackOff: Back-off pulling image",
		},
		{
			corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			appsv1alpha1.ToolRunning, "", "True ToolInstalled: 1 pod has the container \"" + own + "\"",
		},
		{
			corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 130, Reason: "Error"}},
			appsv1alpha1.ToolEnded, "exit code 130", "True ToolInstalled: 1 pod has the container \"" + own + "\"",
		},
		{
			corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "no such file"}},
			appsv1alpha1.ToolFailed, "StartError: no such file",
			"False ToolFailed: waiting for the container to run in pod web-1: StartError: no such file",
		},
	} {
		s.reports(pod, own, tt.state)
		s.Settle(t, s.r, tool)
		want := []appsv1alpha1.PodTool{{Name: "web-1", Container: own, State: tt.want, Message: tt.message}}
		if diff := cmp.Diff(want, tool.Status.Pods); diff != "" {
			t.Errorf("status.pods (-want +got):\n%s", diff)
		}
		s.wantCondition(tool, appsv1alpha1.ConditionInstalled, tt.condition)
	}
}

func TestAPausedToolOnlyTells(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool(func(p *appsv1alpha1.PodBuggerTool) {
		p.Annotations = map[string]string{status.PausedAnnotation: "true"}
	})
	s.wantTools(pod)
	s.wantCounts(tool, 1, 0, 0)
	s.wantCondition(tool, status.Paused, `True Paused: Windlass does not act on this object while the annotation windlass.io/paused is "true"`)
	s.wantCondition(tool, status.Ready, "False Installing: waiting for the tool to be installed in pod web-1")
	testkit.Edit(t, s.Harness, tool, func(p *appsv1alpha1.PodBuggerTool) { p.Annotations = nil })
	s.Settle(t, s.r, tool)
	s.wantTools(pod, containerOf(tool).Name)
}

func TestADeletedToolLeavesItsContainers(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	own := containerOf(tool).Name
	if err := s.Live.Delete(t.Context(), tool); err != nil {
		t.Fatal(err)
	}
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(tool))
	s.wantTools(pod, own)
	if s.Get(t, tool) {
		t.Error("the tool is still there")
	}
}

func TestPodsThatCannotBeReadAreACondition(t *testing.T) {
	s := newStage(t)
	tool := s.tool()
	s.pods.err = errNotRead
	if result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool)); err != nil || result.RequeueAfter == 0 {
		t.Errorf("a pass before the pods are read ends with %v, %v", result, err)
	}
	s.Get(t, tool)
	s.wantCondition(tool, status.Ready, "True NoPodMatches: no pod in the namespace matches app=web")

	s.pods.err = errors.New("pods is forbidden")
	for range 20 { // it does not back off: nothing wakes it up once the pods are there
		result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool))
		if err != nil || result.RequeueAfter < flow.RecheckRights || result.RequeueAfter > 2*flow.RecheckRights {
			t.Fatalf("a pass without the pods ends with %v, %v, want about %s", result, err, flow.RecheckRights)
		}
	}
	s.Get(t, tool)
	s.wantCondition(tool, status.Reconciling, `True Error: waiting for the pods of namespace "`+s.namespace+`" to be listed: pods is forbidden`)

	s.pods.err = apierrors.NewServiceUnavailable("stopping")
	if result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(tool)); err != nil || result.RequeueAfter > flow.RecheckRights/2 {
		t.Errorf("a pass while the API server is away ends with %v, %v", result, err)
	}
	s.pods.err = nil
	s.Settle(t, s.r, tool)
	s.wantCondition(tool, status.Ready, "True NoPodMatches: no pod in the namespace matches app=web")
}

func TestAListOfManyPodsShowsTheProblemsFirst(t *testing.T) {
	t.Parallel()
	tool := aTool(atMost(500))
	pass := &scope{Pass: flow.NewPass(tool, time.Unix(0, 0)), seen: &observation{}, refused: map[string]error{"web-70": errors.New("no")}}
	for number := range 80 {
		pass.seen.pods = append(pass.seen.pods, aPod(number, with(tool)))
	}
	pass.seen.pods[70].Spec.EphemeralContainers = nil
	var err error
	if pass.decision, err = plan(tool, *pass.seen); err != nil {
		t.Fatal(err)
	}
	pass.Apply(describe(pass, flow.Done()), flow.Done())
	names := make([]string, 0, len(tool.Status.Pods))
	for _, line := range tool.Status.Pods {
		names = append(names, line.Name)
	}
	if len(names) != appsv1alpha1.MaxPodTools || !cmp.Equal(names, slices.Sorted(slices.Values(names))) || !strings.Contains(strings.Join(names, " "), "web-70") {
		t.Errorf("status.pods names %d pods: %v", len(names), names)
	}
	if tool.Status.Failed != 1 || tool.Status.Installed != 79 {
		t.Errorf("installed %d, failed %d", tool.Status.Installed, tool.Status.Failed)
	}
}

// A container in a pod did not tell which PodBuggerTool had asked for it, and with the object went the only trace.
func TestAttackNobodyKnowsWhoAskedForAContainer(t *testing.T) {
	s := newStage(t)
	pod := s.pod("web-1")
	tool := s.tool()
	first := tool.UID
	for range 2 {
		s.Get(t, pod)
		if len(pod.Spec.EphemeralContainers) != 1 {
			t.Fatalf("the pod has %d debugging containers, want 1", len(pod.Spec.EphemeralContainers))
		}
		want := []corev1.EnvVar{{Name: appsv1alpha1.EnvTool, Value: tool.Name}, {Name: appsv1alpha1.EnvToolUID, Value: string(first)}}
		if diff := cmp.Diff(want, pod.Spec.EphemeralContainers[0].Env); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
		// The tool that is created anew brings no second container, and does not take the first one for its own.
		if err := s.Live.Delete(t.Context(), tool); err != nil {
			t.Fatal(err)
		}
		tool = s.tool()
	}
	pod.Spec.EphemeralContainers[0].Env[1].Value = "somebody-else"
	if err := s.Live.SubResource("ephemeralcontainers").Update(t.Context(), pod); err == nil {
		t.Error("the environment can be changed")
	}
}
