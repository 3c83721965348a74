// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// moving is the only reason that says no more than that work goes on.
const moving = "Moving"

// newSlowStage is a stage of a kind whose work takes a while. It needs no finalizer.
func newSlowStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.lifecycle.Underway, s.lifecycle.Finalizers = []string{moving}, nil
	return s
}

// work makes the next passes say that this is missing.
func (s *stage) work(missing string) {
	s.phase = func(context.Context, *scope) flow.Outcome { return flow.Wait(moving, missing, 0) }
}

// begin gives the object a status that tells of work.
func (s *stage) begin() {
	s.t.Helper()
	s.work("a lot")
	s.pass()
	s.Clock.Step(time.Second)
	s.pass()
	if status.Unwritten(s.podSet.Status.Conditions) {
		s.t.Fatal("the object has no status yet")
	}
}

// passOnce runs one pass that ends like that.
func (s *stage) passOnce(outcome flow.Outcome) {
	s.t.Helper()
	s.phase = func(context.Context, *scope) flow.Outcome { return outcome }
	_, _ = s.Reconcile(s.t, s.lifecycle, client.ObjectKeyFromObject(s.podSet)) // Its error is the outcome's.
}

func TestProgressIsWrittenFromTimeToTime(t *testing.T) {
	t.Parallel()
	s := newSlowStage(t)
	s.phase = func(_ context.Context, pass *scope) flow.Outcome {
		pass.Tell(event.Event{Regarding: pass.Object, Reason: "Begun"})
		return flow.Wait(moving, "three", 0)
	}
	if again := s.pass().RequeueAfter; again < time.Second || again > 2*time.Second {
		t.Errorf("the report is to be written after %s, want a second and up to a fifth more", again)
	}
	if diff := cmp.Diff([]string{"Begun"}, s.Events.Reasons()); diff != "" {
		t.Errorf("events do not wait with the status (-want +got):\n%s", diff)
	}
	steps := []struct {
		missing string
		wait    time.Duration
		writes  int
	}{
		{"two", 400 * time.Millisecond, 0}, {"one", 600 * time.Millisecond, 1}, {"one", 10 * time.Second, 1}, {"half", 0, 2}, {"nothing", 500 * time.Millisecond, 2},
	}
	for i, step := range steps {
		s.Clock.Step(step.wait)
		s.work(step.missing)
		if s.pass(); s.Writes() != step.writes {
			t.Errorf("step %d, %s is missing: %d writes, want %d", i+1, step.missing, s.Writes(), step.writes)
		}
	}
	s.phase = func(context.Context, *scope) flow.Outcome { return flow.Done() }
	if s.pass(); s.Writes() != 3 {
		t.Errorf("%d writes after the end, want 3", s.Writes())
	}
	testkit.CheckContract(t, s.podSet)
}

func TestNothingButProgressWaits(t *testing.T) {
	t.Parallel()
	for sentence, phase := range map[string]flow.Outcome{
		"it is done":            flow.Done(),
		"it fails":              flow.Fail(errors.New("boom")),
		"it stalls":             flow.Stall(moving, errors.New("it is refused")),
		"it waits for somebody": flow.Wait("Blocked", "somebody", 0),
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := newSlowStage(t)
			s.passOnce(phase)
			if s.Writes() != 1 {
				t.Errorf("%d writes of a new object, want 1", s.Writes())
			}
			s = newSlowStage(t)
			s.begin()
			before := s.Writes()
			s.passOnce(phase)
			if s.Writes() != before+1 {
				t.Errorf("%d writes of an object that is being worked on, want 1", s.Writes()-before)
			}
		})
	}
}

func TestAChangedSpecIsObservedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSlowStage(t)
	s.begin()
	testkit.Edit(t, s.Harness, s.podSet, func(p *appsv1alpha1.PodSet) { p.Spec.Size++ })
	s.pass()
	if got := s.podSet.Status.ObservedGeneration; got != s.podSet.Generation {
		t.Errorf("the status describes generation %d of %d", got, s.podSet.Generation)
	}
}

func TestAnObjectThatNobodyHasReportedOnIsNotReady(t *testing.T) {
	t.Parallel()
	s := newSlowStage(t)
	s.Get(t, s.podSet)
	if !status.Unwritten(s.podSet.Status.Conditions) {
		t.Errorf("a new object has the conditions %+v", s.podSet.Status.Conditions)
	}
}
