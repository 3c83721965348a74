// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// stage is an API server without nodes: a test plays the kubelet.
type stage struct {
	*testkit.Harness
	*Runner

	t         *testing.T
	namespace string
	// says is what the Pods of runs answer; asked counts how often one was.
	says  func(out io.Writer) error
	asked atomic.Int32
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{Harness: testkit.New(t), t: t}
	s.namespace = s.Harness.Namespace(t)
	s.Runner = s.again()
	return s
}

// again returns a Runner as a manager that was started again has it.
func (s *stage) again() *Runner {
	return New(Options{
		Client: s.Direct, Namespace: s.namespace, Supervisor: "windlass:1", Images: map[string]string{"rke": "rke:1"}, Limit: 2, Now: time.Now,
		Attach: func(_ context.Context, _ string, _ []string, out io.Writer) error {
			s.asked.Add(1)
			return s.says(out)
		},
	})
}

// request asks for a run of the cluster.
func request(cluster, id string) provision.Request {
	tool, err := provision.Preset("rke")
	if err != nil {
		panic(err)
	}
	return provision.Request{
		Place: provision.Place{Cluster: cluster, Name: "one"}, ID: id, Action: provision.Up, Tool: tool, Config: []byte("nodes: []\n"),
		PrivateKey: []byte("the key"), Timeout: time.Hour, Grace: time.Minute,
	}
}

func (s *stage) start(wanted provision.Request) {
	s.t.Helper()
	if err := s.Start(s.t.Context(), wanted); err != nil {
		s.t.Fatal(err)
	}
}

// job returns the Job of a run.
func (s *stage) job(cluster, id string) *batchv1.Job {
	s.t.Helper()
	found := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: jobName(cluster, id)}}
	if !s.Get(s.t, found) {
		s.t.Fatalf("there is no Job %s", found.Name)
	}
	return found
}

func (s *stage) jobs() int {
	s.t.Helper()
	var jobs batchv1.JobList
	if err := s.Live.List(s.t.Context(), &jobs, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	return len(jobs.Items)
}

// ends has a Job fail, as its controller would.
func (s *stage) ends(of *batchv1.Job) {
	s.t.Helper()
	now := metav1.Now()
	of.Status = batchv1.JobStatus{StartTime: &now, Conditions: []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", LastTransitionTime: now},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", LastTransitionTime: now},
	}}
	if err := s.Live.Status().Update(s.t.Context(), of); err != nil {
		s.t.Fatal(err)
	}
}

// runs creates a Pod whose tool runs, controlled by the Job if there is one, and returns it.
func (s *stage) runs(cluster string, by *batchv1.Job) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, GenerateName: "run-", Labels: labelsFor(cluster)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: "rke:1"}}},
	}
	if by != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(by, batchv1.SchemeGroupVersion.WithKind("Job"))}
		pod.Labels[batchv1.JobNameLabel], pod.Labels[batchv1.ControllerUidLabel] = by.Name, string(by.UID)
	}
	s.Create(s.t, pod)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	if err := s.Live.Status().Update(s.t.Context(), pod); err != nil {
		s.t.Fatal(err)
	}
	return pod
}

// answers has Pods give a report.
func (s *stage) answers(told Report) {
	s.t.Helper()
	packed, err := pack(told)
	if err != nil {
		s.t.Fatal(err)
	}
	s.says = func(out io.Writer) error { _, err := out.Write(packed); return err }
}

// observe returns the cluster's run.
func (s *stage) observe(cluster string) provision.Run {
	s.t.Helper()
	run, err := s.Observe(s.t.Context(), cluster)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

func TestARunIsOneJob(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	if err := s.again().Start(t.Context(), request("a", "up-1")); err != nil {
		t.Errorf("the same run, started by another manager: %v", err)
	}
	if err := s.Start(t.Context(), request("a", "up-2")); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("a second run: %v", err)
	}
	s.start(request("b", "up-1"))
	if err := s.Start(t.Context(), request("c", "up-1")); !errors.Is(err, provision.ErrLimit) {
		t.Errorf("a third cluster: %v", err)
	}
	if err := s.Forget(t.Context(), "a"); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("forgetting a run that is under way: %v", err)
	}
	if got := s.jobs(); got != 2 {
		t.Errorf("there are %d Jobs, want one for each cluster", got)
	}
	if run := s.observe("a"); run.Phase != provision.Running || run.ID != "up-1" || run.Action != provision.Up {
		t.Errorf("the run is %+v", run)
	}
}

func TestAManagerThatDiesBeforeTheJobStartsItAgain(t *testing.T) {
	s := newStage(t)
	none := corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}
	s.Create(t, quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none} // nobody else counts here
	if err := s.Live.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the quota refuses Jobs", func() bool {
		probe := manifest(s.options, request("probe", "up-1"), "rke:1")
		return s.Live.Create(t.Context(), probe, client.DryRunAll) != nil
	})
	if err := s.Start(t.Context(), request("a", "up-1")); err == nil || !strings.Contains(err.Error(), "cannot create Job") {
		t.Fatalf("the start ended with %v", err)
	}
	if run, err := s.again().Observe(t.Context(), "a"); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("a run that never began is %+v, %v", run, err)
	}
	if err := s.Live.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	next := s.again()
	testkit.Eventually(t, "the run starts", func() bool { return next.Start(t.Context(), request("a", "up-1")) == nil })
	if run := s.observe("a"); run.Phase != provision.Running || s.jobs() != 1 {
		t.Errorf("the run is %+v, with %d Jobs", run, s.jobs())
	}
}

// TestADeletionInTheForegroundTakesTheRun is about the garbage collector, which deletes what a Cluster owns that is deleted in the foreground: each run that
// was to remove the machines was gone as soon as it was there.
func TestADeletionInTheForegroundTakesTheRun(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "remove-1"))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: secretName("a")}}
	if !s.Get(t, secret) {
		t.Fatal("there is no Secret")
	}
	for _, object := range []client.Object{secret, s.job("a", "remove-1")} {
		if owners := object.GetOwnerReferences(); len(owners) > 0 {
			t.Errorf("%T %q belongs to %v", object, object.GetName(), owners)
		}
	}
	owner := metav1ac.OwnerReference().WithAPIVersion(clusterprovisionerv1alpha1.SchemeGroupVersion.String()).WithKind("Cluster").WithName("one").WithUID("a")
	former := corev1ac.Secret(secret.Name, s.namespace).WithLabels(secret.Labels).WithType(secret.Type).WithOwnerReferences(owner)
	if err := patch.Apply(t.Context(), s.Direct, former); err != nil { // as an earlier version did
		t.Fatal(err)
	}
	s.ends(s.job("a", "remove-1"))
	s.start(request("a", "remove-2"))
	if s.Get(t, secret); len(secret.OwnerReferences) > 0 {
		t.Errorf("the Secret of an earlier version belongs to %v", secret.OwnerReferences)
	}
}

func TestAManagerThatDiesAfterTheJobFindsIt(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	kept, err := s.read(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	kept.job = "" // the manager ended before it noted that the Job exists
	if err := s.write(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	back := s.again()
	if run, err := back.Observe(t.Context(), "a"); err != nil || run.Phase != provision.Running {
		t.Errorf("the run is %+v, %v", run, err)
	}
	if err := back.Start(t.Context(), request("a", "up-1")); err != nil || s.jobs() != 1 {
		t.Errorf("the start ended with %v, and there are %d Jobs", err, s.jobs())
	}
}

func TestAJobWithoutAResultIsAnInterruptedRun(t *testing.T) {
	for sentence, end := range map[string]func(s *stage, of *batchv1.Job){
		"its Job ended without a result: Failed DeadlineExceeded": (*stage).ends,
		"its Job was deleted": func(s *stage, of *batchv1.Job) {
			if err := s.Live.Delete(s.t.Context(), of, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			s.start(request("a", "up-1"))
			end(s, s.job("a", "up-1"))
			want := provision.Run{ID: "up-1", Action: provision.Up, Phase: provision.Interrupted, Failure: &provision.Failure{
				Reason: clusterprovisionerv1alpha1.ReasonInterrupted, Message: "the run ended without a result: " + sentence, Retryable: true,
			}}
			if diff := cmp.Diff(want, s.observe("a")); diff != "" {
				t.Errorf("run (-want +got):\n%s", diff)
			}
			s.start(request("a", "up-1")) // it is not repeated under its own ID
			if run := s.observe("a"); run.Phase != provision.Interrupted {
				t.Errorf("it ran again: %+v", run)
			}
			s.start(request("a", "up-2"))
			if run := s.observe("a"); run.Phase != provision.Running || run.ID != "up-2" {
				t.Errorf("the next run is %+v", run)
			}
		})
	}
}

// TestARunWhoseJobIsDeletedIsRepeatedBesideItsTool is about the Pod of a Job that somebody deleted: its tool works until its grace is over, or to its end where
// Pods were to stay. The run was repeated after half a minute, and a Cluster with Orphan was let go.
func TestARunWhoseJobIsDeletedIsRepeatedBesideItsTool(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	pod := s.runs("a", s.job("a", "up-1"))
	s.runs("a", nil) // a label alone does not make a Pod that of a run
	// Nobody collects garbage here: the Pod stays.
	if err := s.Live.Delete(t.Context(), s.job("a", "up-1"), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	back := s.again()
	for _, id := range []string{"up-2", "remove-1"} {
		if err := back.Start(t.Context(), request("a", id)); !errors.Is(err, provision.ErrBusy) || !strings.Contains(err.Error(), pod.Name) {
			t.Errorf("%s beside the tool of up-1: %v", id, err)
		}
	}
	if err := back.Forget(t.Context(), "a"); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("forgetting a cluster whose tool works: %v", err)
	}
	if run := s.observe("a"); run.ID != "up-1" || s.jobs() != 0 {
		t.Errorf("the run is %+v, and there are %d Jobs", run, s.jobs())
	}
	if err := back.Start(t.Context(), request("b", "up-1")); err != nil {
		t.Errorf("a run of another cluster: %v", err)
	}
	pod.Status.Phase = corev1.PodFailed
	if err := s.Live.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	s.start(request("a", "up-2"))
	s.ends(s.job("a", "up-2"))
	if err := back.Forget(t.Context(), "a"); err != nil {
		t.Errorf("forgetting a cluster whose tool has ended: %v", err)
	}
}

// TestAPodWhoseJobLeftItRunsForEver is about a Job that was deleted with --cascade=orphan, and its deadline with it: the Pod waits for a manager that does not
// know of it.
func TestAPodWhoseJobLeftItRunsForEver(t *testing.T) {
	t.Parallel()
	of := manifest(Options{}, request("a", "up-1"), "rke:1")
	if diff := cmp.Diff(of.Spec.ActiveDeadlineSeconds, of.Spec.Template.Spec.ActiveDeadlineSeconds); diff != "" {
		t.Errorf("the deadline of the Pod (-Job +Pod):\n%s", diff)
	}
}

func TestAResultIsStoredBeforeTheJobGoes(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", s.job("a", "up-1"))
	left := provision.Artifacts{State: map[string][]byte{"cluster.rkestate": []byte("state")}, Kubeconfig: []byte("kubeconfig")}
	code := int32(0)
	ended := time.Now().UTC().Truncate(time.Second)
	s.answers(Report{Run: provision.Run{Phase: provision.Succeeded, ExitCode: &code, Log: "done\n", EndedAt: ended}, Left: &left})
	back := s.again() // a manager that did not start it
	back.follow(t.Context(), s.job("a", "up-1"))
	want := provision.Run{ID: "up-1", Action: provision.Up, Phase: provision.Succeeded, ExitCode: &code, Log: "done\n", EndedAt: ended}
	if diff := cmp.Diff(want, s.observe("a")); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	got, err := s.Collect(t.Context(), provision.Place{Cluster: "a"}, provision.Tool{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(left, got); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if of := s.job("a", "up-1"); of.DeletionTimestamp.IsZero() {
		t.Error("the Job stays")
	}
	kept, err := s.read(t.Context(), "a")
	if err != nil || len(kept.request) > 0 {
		t.Errorf("the Secret still has the request, with the key (%v)", err)
	}
	s.start(request("a", "up-2")) // although the Pod of the last run may still be ending
	if run := s.observe("a"); run.ID != "up-2" || run.Phase != provision.Running {
		t.Errorf("the next run is %+v", run)
	}
}

func TestNothingIsLeftOfAClusterThatIsForgotten(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.ends(s.job("a", "up-1"))
	if err := s.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Observe(t.Context(), "a"); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("its run is %v", err)
	}
	if of := s.job("a", "up-1"); of.DeletionTimestamp.IsZero() {
		t.Error("its Job stays")
	}
	if err := s.Forget(t.Context(), "a"); err != nil {
		t.Errorf("forgetting it once more: %v", err)
	}
}

func TestARunThatHasNotBegunIsCanceledWithItsJob(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	if err := s.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if of := s.job("a", "up-1"); of.DeletionTimestamp.IsZero() || s.asked.Load() > 0 {
		t.Error("the Job stays, or its Pod was asked")
	}
}

func TestWhatCannotBeAJobIsRefused(t *testing.T) {
	for sentence, tt := range map[string]struct {
		change func(*provision.Request)
		kind   error
		says   string
	}{
		"a provisioner without an image": {
			func(r *provision.Request) { r.Tool.Name = "exec" }, provision.ErrToolMissing, "start Windlass with --tool-images=exec=IMAGE",
		},
		"a file of the machine": {
			func(r *provision.Request) { r.ConfigPath = "/etc/cluster.yml" }, provision.ErrPathRefused, "use spec.config instead of spec.configPath",
		},
		"a state that does not fit": {
			func(r *provision.Request) { r.State = map[string][]byte{"s": noise(1 << 20)} }, errTooLarge, "cannot pass configuration and state",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			wanted := request("a", "up-1")
			tt.change(&wanted)
			if err := s.Start(t.Context(), wanted); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the start ended with %v", err)
			}
			if got := s.jobs(); got != 0 {
				t.Errorf("there are %d Jobs", got)
			}
		})
	}
}

// noise returns bytes that do not compress.
func noise(size int) []byte {
	out, state := make([]byte, size), uint64(1)
	for i := range out {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		out[i] = byte(state)
	}
	return out
}

func TestTheJobIsConfined(t *testing.T) {
	s := newStage(t)
	of := manifest(s.options, request("a", "up-1"), "rke:1")
	if got, want := *of.Spec.ActiveDeadlineSeconds, int64(2*60*60+60); got != want || *of.Spec.BackoffLimit != 0 {
		t.Errorf("the deadline is %d s, want %d", got, want)
	}
	// The API server judges: a namespace like Windlass' own lets the Pod in.
	guarded := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "guarded-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	s.Create(t, guarded)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: guarded.Name, Name: "run"}, Spec: of.Spec.Template.Spec}
	s.Create(t, pod)
	if of.Name != "up-1-"+of.Name[len(of.Name)-10:] {
		t.Errorf("the Job is called %s", of.Name)
	}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		if !*c.SecurityContext.ReadOnlyRootFilesystem || c.Resources.Limits.Memory().IsZero() || len(c.Env) > 0 {
			t.Errorf("container %s is not confined: %+v", c.Name, c)
		}
	}
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		if mount.Name == requestKey || strings.Contains(mount.MountPath, "serviceaccount") {
			t.Errorf("the tool has %+v", mount)
		}
	}
}

func TestImagesOfAPrivateRegistryArePulledWithTheSecretsOfTheManager(t *testing.T) {
	s := newStage(t)
	s.options.PullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	s.start(request("a", "up-1"))
	if diff := cmp.Diff(s.options.PullSecrets, s.job("a", "up-1").Spec.Template.Spec.ImagePullSecrets); diff != "" {
		t.Errorf("the Pod's imagePullSecrets (-want +got):\n%s", diff)
	}
}

func TestWhatAPodNeedsAndCannotGetIsTold(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", s.job("a", "up-1"))
	var pods corev1.PodList
	if err := s.Live.List(t.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		t.Fatal(err)
	}
	pods.Items[0].Status.ContainerStatuses[0].State = corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `no image "rke:1"`},
	}
	if err := s.Live.Status().Update(t.Context(), &pods.Items[0]); err != nil {
		t.Fatal(err)
	}
	s.follow(t.Context(), s.job("a", "up-1"))
	if got, want := s.observe("a").Stage, `container tool waits: ImagePullBackOff: no image "rke:1"`; got != want {
		t.Errorf("the stage is %q, want %q", got, want)
	}
}

// TestAnOldRunOfTheSameNameIsRepeated is about runs of processes in between, of which the Secret does not know: a result from before them counted as the run.
func TestAnOldRunOfTheSameNameIsRepeated(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", s.job("a", "up-1"))
	began := time.Now().Add(-time.Hour)
	s.answers(Report{Run: provision.Run{Phase: provision.Succeeded, StartedAt: began, EndedAt: began}})
	s.follow(t.Context(), s.job("a", "up-1"))
	gone := s.job("a", "up-1")
	gone.Finalizers = nil // as once its Pod has ended
	if err := s.Live.Update(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	again := request("a", "up-1")
	s.start(again)
	if run := s.observe("a"); run.Phase != provision.Succeeded {
		t.Errorf("without a newer run it is repeated: %+v", run)
	}
	again.Since = began.Add(time.Minute)
	s.start(again)
	s.start(again)
	if run := s.observe("a"); run.Phase != provision.Running || s.jobs() != 1 {
		t.Errorf("after a newer run it is %+v, with %d Jobs", run, s.jobs())
	}
}

// TestAPodThatCannotBeAskedSaysNothing is about a policy that denies pods/exec, and an API server that does not reach kubelets: nothing said so, and a run could
// not be told to stop.
func TestAPodThatCannotBeAskedSaysNothing(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	of := s.job("a", "up-1")
	pod := s.runs("a", of)
	s.answers(Report{Run: provision.Run{Phase: provision.Running, Stage: "step 1", Log: "a line\n", Skipped: []string{"b"}}})
	s.follow(t.Context(), of)
	s.says = func(io.Writer) error {
		return errors.New(`admission webhook "no-exec" denied the request: token=hunter22 ` + strings.Repeat("long ", 1000))
	}
	s.follow(t.Context(), of)
	if got := s.observe("a").Stage; got != "step 1" {
		t.Errorf("after one failure, the stage is %q", got)
	}
	if err := s.Cancel(t.Context(), "a"); err == nil || !s.job("a", "up-1").DeletionTimestamp.IsZero() {
		t.Errorf("a Pod that may answer the next time lost its Job (%v)", err)
	}
	for len(s.Changed()) > 0 {
		<-s.Changed()
	}
	s.follow(t.Context(), of)
	run := s.observe("a")
	want := "Pod " + s.namespace + "/" + pod.Name + ` cannot be asked: admission webhook "no-exec" denied the request: token=[redacted] `
	if !strings.HasPrefix(run.Stage, want) || len(run.Stage) > maxText {
		t.Errorf("the stage is %q, want %q", run.Stage, want)
	}
	if run.Phase != provision.Running || run.Log != "a line\n" || !slices.Equal(run.Skipped, []string{"b"}) || len(s.Changed()) != 1 {
		t.Errorf("the run is %+v, and %d were told", run, len(s.Changed()))
	}
	if err := s.Cancel(t.Context(), "a"); err != nil || s.job("a", "up-1").DeletionTimestamp.IsZero() {
		t.Errorf("a run that cannot be told to stop goes on: %v", err)
	}
	s.answers(Report{Run: provision.Run{Phase: provision.Running, Stage: "step 2"}})
	s.follow(t.Context(), of)
	if got := s.observe("a").Stage; got != "step 2" {
		t.Errorf("after an answer, the stage is %q", got)
	}
}

// TestAResultThatCannotBeStoredSaysNothing is about an API server that refuses the Secret: the run had ended, and seemed to go on until its Job was over.
func TestAResultThatCannotBeStoredSaysNothing(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	of := s.job("a", "up-1")
	s.runs("a", of)
	s.answers(Report{Run: provision.Run{Phase: provision.Succeeded}})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: secretName("a")}}
	testkit.Edit(t, s.Harness, secret, func(found *corev1.Secret) { found.Immutable = new(true) })
	s.follow(t.Context(), of)
	s.follow(t.Context(), of)
	want := "the run has ended, and its result cannot be stored: cannot write Secret " + s.namespace + "/" + secret.Name
	if got := s.observe("a").Stage; !strings.HasPrefix(got, want) || !strings.Contains(got, "immutable") {
		t.Errorf("the stage is %q, want %q", got, want)
	}
}

func TestAReportSurvivesItsPacking(t *testing.T) {
	t.Parallel()
	want := Report{Run: provision.Run{ID: "up-1", Phase: provision.Succeeded}, Left: &provision.Artifacts{Kubeconfig: []byte("k")}}
	packed, err := pack(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := unpack(packed, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if err := unpack(make([]byte, 100), &got); err == nil {
		t.Error("nonsense is a report")
	}
}
