// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	finalizer = "windlass.io/lifecycle"
	synced    = "NodesSynced"
)

// stage is a kind with one condition, whose only phase is what a test wants it to be.
type stage struct {
	*testkit.Harness

	t         *testing.T
	lifecycle *flow.Lifecycle[*appsv1alpha1.PodSet, *scope]
	podSet    *appsv1alpha1.PodSet
	phase     func(ctx context.Context, s *scope) flow.Outcome
	forgotten int
}

type scope struct {
	*flow.Pass[*appsv1alpha1.PodSet]
}

func newStage(t *testing.T, changes ...func(*appsv1alpha1.PodSet)) *stage {
	t.Helper()
	s := &stage{Harness: testkit.New(t), t: t, phase: func(context.Context, *scope) flow.Outcome { return flow.Done() }}
	s.restart()
	s.podSet = &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(t), Name: "web"},
		Spec:       appsv1alpha1.PodSetSpec{Size: 1},
	}
	for _, change := range changes {
		change(s.podSet)
	}
	s.Create(t, s.podSet)
	return s
}

// restart takes the place of the process: what that remembered is gone.
func (s *stage) restart() {
	s.lifecycle = &flow.Lifecycle[*appsv1alpha1.PodSet, *scope]{
		Client: s.Client, Live: s.Live, Recorder: s.Events, Now: s.Clock.Now,
		New:        func() *appsv1alpha1.PodSet { return &appsv1alpha1.PodSet{} },
		Finalizers: []string{finalizer},
		Begin:      func(pass *flow.Pass[*appsv1alpha1.PodSet]) *scope { return &scope{Pass: pass} },
		Phases: func(*scope) []flow.Phase[*scope] {
			return []flow.Phase[*scope]{{Name: "do what the test wants", Run: s.phase}}
		},
		Describe: func(pass *scope, _ flow.Outcome) *status.Marks {
			pass.Object.Status.Nodes = []string{}
			marks := status.Declaration{{Type: synced}}.Begin()
			marks.True(synced, synced, "")
			marks.Reach(status.ReasonReady, "the test is content")
			return marks
		},
		Announce: []status.Announcement{{Condition: status.Stalled, Status: metav1.ConditionTrue, Warning: true, Action: "Test"}},
		Forget:   func(context.Context, client.ObjectKey) error { s.forgotten++; return nil },
	}
}

// pass runs one pass and reloads the object.
func (s *stage) pass() reconcile.Result {
	s.t.Helper()
	result, err := s.Reconcile(s.t, s.lifecycle, client.ObjectKeyFromObject(s.podSet))
	if err != nil {
		s.t.Fatal(err)
	}
	s.Get(s.t, s.podSet)
	return result
}

// annotate replaces the annotations of the object.
func (s *stage) annotate(annotations map[string]string) {
	s.t.Helper()
	s.podSet.Annotations = annotations
	if err := s.Client.Update(s.t.Context(), s.podSet); err != nil {
		s.t.Fatal(err)
	}
}

func paused(podSet *appsv1alpha1.PodSet) {
	podSet.Annotations = map[string]string{status.PausedAnnotation: "true"}
}

func TestTheFinalizerComesBeforeThePhases(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.phase = func(ctx context.Context, pass *scope) flow.Outcome {
		live := pass.Object.DeepCopy()
		if err := s.Live.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
			s.t.Error(err)
		}
		if diff := cmp.Diff([]string{finalizer}, live.Finalizers); diff != "" {
			s.t.Errorf("finalizers differ when the phases run (-want +got):\n%s", diff)
		}
		return flow.Done()
	}
	s.pass()
	testkit.CheckContract(t, s.podSet)
	if before := s.Writes(); before != 2 {
		t.Errorf("the first pass wrote %d times, want 2: finalizer and status", before)
	}
	s.Settle(t, s.lifecycle, s.podSet)
	if s.Writes() != 2 {
		t.Errorf("a second pass wrote as well: %d writes", s.Writes())
	}
}

func TestAPausedObjectGetsNoFinalizer(t *testing.T) {
	t.Parallel()
	s := newStage(t, paused)
	s.pass()
	if len(s.podSet.Finalizers) > 0 {
		t.Errorf("the finalizers are %v", s.podSet.Finalizers)
	}
	if !slices.ContainsFunc(s.podSet.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == status.Paused && c.Status == metav1.ConditionTrue
	}) {
		t.Errorf("the status does not say that the object is paused: %+v", s.podSet.Status.Conditions)
	}
}

func TestAPauseEndsByItself(t *testing.T) {
	t.Parallel()
	const hours = 2 * time.Hour
	s := newStage(t)
	s.annotate(map[string]string{status.PausedAnnotation: s.Clock.Now().Add(hours).Format(time.RFC3339), "mine": "kept"})
	worked := 0
	s.phase = func(_ context.Context, pass *scope) flow.Outcome {
		if !status.IsPaused(pass.Object) {
			worked++
		}
		return flow.Done()
	}
	for _, step := range []struct{ wait, again time.Duration }{{0, time.Hour}, {hours - time.Minute, time.Minute}} {
		s.Clock.Step(step.wait)
		if again := s.pass().RequeueAfter; again != step.again || worked > 0 || !status.IsPaused(s.podSet) {
			t.Errorf("%s before the end, it looks again after %s; not paused in %d passes", step.again, again, worked)
		}
	}
	s.Clock.Step(time.Minute)
	if again := s.pass().RequeueAfter; again != 0 || worked != 1 {
		t.Errorf("after the end, it looks again after %s; not paused in %d passes", again, worked)
	}
	if diff := cmp.Diff(map[string]string{"mine": "kept"}, s.podSet.Annotations); diff != "" {
		t.Errorf("the annotations differ (-want +got):\n%s", diff)
	}
	testkit.CheckContract(t, s.podSet)
}

// TestAPauseThatIsProlongedDoesNotEnd has a cache that does not know it yet.
func TestAPauseThatIsProlongedDoesNotEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.annotate(map[string]string{status.PausedAnnotation: s.Clock.Now().Format(time.RFC3339)})
	stale := s.podSet.DeepCopy()
	s.annotate(map[string]string{status.PausedAnnotation: s.Clock.Now().Add(time.Hour).Format(time.RFC3339)})
	before := s.podSet.DeepCopy()
	if err := patch.RemoveAnnotation(t.Context(), s.Client, stale, status.PausedAnnotation); !apierrors.IsConflict(err) {
		t.Errorf("the error is %v", err)
	}
	if !status.IsPaused(stale) {
		t.Error("what was not written is in the object")
	}
	s.Get(t, s.podSet)
	if diff := cmp.Diff(before, s.podSet); diff != "" {
		t.Errorf("it has changed (-before +after):\n%s", diff)
	}
}

func TestAForeignFinalizerKeepsNobodyAtWork(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *appsv1alpha1.PodSet) { p.Finalizers = []string{"example.com/hold"} })
	if err := s.Live.Delete(t.Context(), s.podSet); err != nil {
		t.Fatal(err)
	}
	s.phase = func(context.Context, *scope) flow.Outcome {
		t.Error("an object that only others hold is worked on")
		return flow.Done()
	}
	s.pass()
	if s.forgotten != 1 || s.Writes() != 0 {
		t.Errorf("forgot %d times, wrote %d times", s.forgotten, s.Writes())
	}
}

func TestAReleasedObjectIsNeverWorkedOnAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *appsv1alpha1.PodSet) { p.Finalizers = []string{finalizer} })
	if err := s.Live.Delete(t.Context(), s.podSet); err != nil {
		t.Fatal(err)
	}
	passes := 0
	s.phase = func(ctx context.Context, pass *scope) flow.Outcome {
		passes++
		pass.Tell(event.Event{Regarding: pass.Object, Reason: "Cleaned"})
		if _, err := patch.RemoveFinalizers(ctx, s.Client, pass.Object.DeepCopy(), finalizer); err != nil {
			return flow.Fail(err)
		}
		pass.Release()
		return flow.Done()
	}
	stale := &frozen{Client: s.Client, podSet: s.podSet}
	s.Get(t, stale.podSet)
	s.lifecycle.Client = stale
	for range 3 { // the cache shows the object with its finalizer for a while
		if _, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)}); err != nil {
			t.Fatal(err)
		}
	}
	if passes != 1 {
		t.Errorf("%d passes over a released object", passes)
	}
	if diff := cmp.Diff([]string{"Cleaned"}, s.Events.Reasons()); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}

// frozen is a client whose reads show an object as it was.
type frozen struct {
	client.Client

	podSet *appsv1alpha1.PodSet
}

// Get implements client.Reader.
func (f *frozen) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	podSet, ok := object.(*appsv1alpha1.PodSet)
	if !ok {
		return errors.New("want a PodSet")
	}
	f.podSet.DeepCopyInto(podSet)
	return nil
}

// An object that was deleted and created anew before the next pass got what was kept of the one before.
func TestASuccessorInheritsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pass()
	s.podSet.Finalizers = nil
	if err := s.Client.Update(t.Context(), s.podSet); err != nil {
		t.Fatal(err)
	}
	if err := s.Live.Delete(t.Context(), s.podSet); err != nil {
		t.Fatal(err)
	}
	s.podSet = &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.podSet.Namespace, Name: s.podSet.Name}, Spec: appsv1alpha1.PodSetSpec{Size: 1},
	}
	s.Create(t, s.podSet)
	for range 2 {
		s.pass()
	}
	if s.forgotten != 1 {
		t.Errorf("what is kept was dropped %d times, want once", s.forgotten)
	}
}

func TestEventsWaitForTheStatus(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.phase = func(_ context.Context, pass *scope) flow.Outcome {
		testkit.Edit(t, s.Harness, pass.Object.DeepCopy(), func(p *appsv1alpha1.PodSet) { p.Spec.Size++ }) //nolint:contextcheck // because somebody else makes the change
		pass.Tell(event.Event{Regarding: pass.Object, Reason: "Done"})
		return flow.Stall("Broken", errors.New("it is broken"))
	}
	if _, err := s.Reconcile(t, s.lifecycle, client.ObjectKeyFromObject(s.podSet)); err == nil {
		t.Fatal("a status computed from an old object was written")
	}
	if got := s.Events.Reasons(); len(got) != 0 {
		t.Errorf("a pass whose status write failed recorded %v", got)
	}
	s.phase = func(_ context.Context, pass *scope) flow.Outcome {
		pass.Tell(event.Event{Regarding: pass.Object, Reason: "Done"})
		return flow.Stall("Broken", errors.New("it is broken"))
	}
	s.pass()
	if diff := cmp.Diff([]string{"Done", "Broken"}, s.Events.Reasons()); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}

// TestEventsOfWhatWasDoneAreLost has a status that meets a change of somebody else, or is refused. The next pass finds done what this one did, and tells
// nothing of it.
func TestEventsOfWhatWasDoneAreLost(t *testing.T) {
	t.Parallel()
	meets := func(s *stage, pass *scope) {
		testkit.Edit(s.t, s.Harness, pass.Object.DeepCopy(), func(p *appsv1alpha1.PodSet) { p.Spec.Size++ })
	}
	tests := map[string]func(s *stage, pass *scope){
		"the status meets a change":    meets,
		"the API server has no answer": func(s *stage, _ *scope) { s.lifecycle.Client = &mute{Client: s.Client} },
	}
	for sentence, happens := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.phase = func(_ context.Context, pass *scope) flow.Outcome {
				happens(s, pass)
				pass.Tell(event.Event{Regarding: pass.Object, Reason: "Seen"})
				pass.Did(event.Event{Regarding: pass.Object, Reason: "Done"})
				return flow.Stall("Broken", errors.New("it is broken"))
			}
			if _, err := s.Reconcile(t, s.lifecycle, client.ObjectKeyFromObject(s.podSet)); err == nil {
				t.Fatal("the status was written")
			}
			if diff := cmp.Diff([]string{"Done"}, s.Events.Reasons()); diff != "" {
				t.Errorf("without a status, events differ (-want +got):\n%s", diff)
			}
			s.lifecycle.Client = s.Client
			s.phase = func(_ context.Context, pass *scope) flow.Outcome {
				pass.Tell(event.Event{Regarding: pass.Object, Reason: "Seen"})
				return flow.Stall("Broken", errors.New("it is broken"))
			}
			s.pass()
			s.pass()
			if diff := cmp.Diff([]string{"Seen", "Broken", "Seen"}, s.Events.Reasons()); diff != "" {
				t.Errorf("with a status, events differ (-want +got):\n%s", diff)
			}
		})
	}
}

// mute is a client whose writes of a status fail.
type mute struct{ client.Client }

// Status implements client.StatusClient.
func (m *mute) Status() client.SubResourceWriter { return muteStatus{m.Client.Status()} }

type muteStatus struct{ client.SubResourceWriter }

// Patch implements client.SubResourceWriter.
func (muteStatus) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errors.New("no answer")
}

func TestASilentPassWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(p *appsv1alpha1.PodSet) { p.Finalizers = []string{finalizer} })
	s.phase = func(_ context.Context, pass *scope) flow.Outcome {
		pass.Silence()
		pass.LookAgain(time.Minute)
		pass.LookAgain(time.Second)
		return flow.Done()
	}
	result := s.pass()
	if s.Writes() != 0 || !status.Unwritten(s.podSet.Status.Conditions) {
		t.Errorf("wrote %d times: %+v", s.Writes(), s.podSet.Status.Conditions)
	}
	if result.RequeueAfter < time.Second || result.RequeueAfter > 2*time.Second {
		t.Errorf("looks again after %s, want a second and up to a fifth more", result.RequeueAfter)
	}
}
