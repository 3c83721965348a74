// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// The manager was restarted after it had removed what belonged to an object, and its cache was filled by an API server that was behind: it made
// the container of a deleted VirtualMachine and the ServiceAccount of a deleted Kubeconfig again, and nobody removed them any more. A container
// that it had stopped to replace it for a new spec had crashed, as it said.
func TestAnObjectThatTheCacheShowsAsItWasIsNotWorkedOn(t *testing.T) {
	t.Parallel()
	for sentence, change := range map[string]func(s *stage){
		"it is gone": func(s *stage) {
			s.remove()
			testkit.Edit(s.t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Finalizers = nil })
		},
		"its spec is another one": func(s *stage) {
			testkit.Edit(s.t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Spec.Size = 2 })
		},
		"its status is another one": func(s *stage) {
			testkit.EditStatus(s.t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Status.Replicas = 2 })
		},
		"it is being deleted": func(s *stage) { s.remove() },
		"another one has its name": func(s *stage) {
			s.remove()
			testkit.Edit(s.t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Finalizers = nil })
			s.podSet.ObjectMeta = metav1.ObjectMeta{Namespace: s.podSet.Namespace, Name: s.podSet.Name}
			s.Create(s.t, s.podSet)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s, passes := newStage(t), 0
			s.phase = func(context.Context, *scope) flow.Outcome { passes++; return flow.Done() }
			s.pass()
			old := &frozen{Client: s.Client, podSet: s.podSet.DeepCopy()}
			change(s)

			s.restart()
			s.lifecycle.Client = old
			for range 2 {
				result, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)})
				if err != nil || result.RequeueAfter < flow.RecheckBehind {
					t.Fatalf("the pass ends with %+v and %v, want to look again", result, err)
				}
			}
			if passes != 1 {
				t.Errorf("%d passes worked on the object, want the one before the restart", passes)
			}
		})
	}
}

// A status took effect, and its answer was an error. The next pass began before the cache had seen it, found the object to be as it should, and what had been
// written stayed: no event of a status wakes the controller.
func TestAStatusThatWasWrittenWithoutAnAnswerStays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pass()
	before := s.podSet.DeepCopy()
	missing := true
	describe := s.lifecycle.Describe
	s.lifecycle.Describe = func(pass *scope, outcome flow.Outcome) *status.Marks {
		marks := describe(pass, outcome)
		if missing {
			marks.False(synced, "Missing", "")
		}
		return marks
	}
	s.lifecycle.Client = &unanswered{Client: s.Client}
	if _, err := s.Reconcile(t, s.lifecycle, client.ObjectKeyFromObject(s.podSet)); err == nil {
		t.Fatal("the pass whose status has no answer ends without an error")
	}
	missing = false
	s.lifecycle.Client = &frozen{Client: s.Client, podSet: before}
	result, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)})
	if err != nil || result.RequeueAfter < flow.RecheckBehind {
		t.Errorf("the pass ends with %+v and %v, want to look again", result, err)
	}
	s.lifecycle.Client = s.Client
	s.Clock.Step(flow.RecheckBehind)
	s.pass()
	if !apimeta.IsStatusConditionTrue(s.podSet.Status.Conditions, synced) {
		t.Errorf("the object says that something is missing: %+v", s.podSet.Status.Conditions)
	}
}

// unanswered is a client whose writes of a status take effect, and are answered with an error.
type unanswered struct{ client.Client }

// Status implements client.Client.
func (u *unanswered) Status() client.SubResourceWriter { return unansweredStatus{u.Client.Status()} }

type unansweredStatus struct{ client.SubResourceWriter }

// Patch implements client.SubResourceWriter.
func (u unansweredStatus) Patch(ctx context.Context, object client.Object, with client.Patch, options ...client.SubResourcePatchOption) error {
	return errors.Join(u.SubResourceWriter.Patch(ctx, object, with, options...), apierrors.NewTimeoutError("no answer", 0))
}

// A person changed the object while a pass worked on it. After the conflict the next pass looked past the cache, found that to be behind, and rested for a
// second, in which the event of the change was turned away, too.
func TestAConflictOfAStatusLetsTheNextPassRest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pass()
	old := &frozen{Client: s.Client, podSet: s.podSet.DeepCopy()}
	testkit.Edit(t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Spec.Size = 2 })
	describe := s.lifecycle.Describe
	s.lifecycle.Describe = func(pass *scope, outcome flow.Outcome) *status.Marks {
		marks := describe(pass, outcome)
		marks.False(synced, "Missing", "")
		return marks
	}
	live := &counted{Reader: s.Live}
	s.lifecycle.Client, s.lifecycle.Live = old, live
	for range 2 { // the cache has not caught up when the second pass begins
		result, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)})
		if !apierrors.IsConflict(err) {
			t.Errorf("the pass ends with %+v and %v, want the conflict, after which the next one begins at once", result, err)
		}
	}
	s.lifecycle.Client = s.Client
	s.pass()
	if !apimeta.IsStatusConditionFalse(s.podSet.Status.Conditions, synced) || live.reads != 0 {
		t.Errorf("after %d reads past the cache, want none, the object says %+v", live.reads, s.podSet.Status.Conditions)
	}
}

// What was there once is not asked for again: a pass costs the API server no read. Of an object that the process has taken on itself it needs none.
func TestAnObjectIsReadPastTheCacheOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for want := range 2 {
		live := &counted{Reader: s.Live}
		s.lifecycle.Live = live
		for range 4 {
			s.pass()
		}
		if live.reads != want {
			t.Errorf("%d reads past the cache after %d restarts, want %d", live.reads, want, want)
		}
		s.restart()
	}
}

// While a cache is behind, the API server is asked now and then, and not for each pass. Once the cache has caught up, the object is worked on.
func TestAnObjectIsWorkedOnWhenTheCacheHasCaughtUp(t *testing.T) {
	t.Parallel()
	s, passes := newStage(t), 0
	s.pass()
	s.phase = func(context.Context, *scope) flow.Outcome { passes++; return flow.Done() }
	old := &frozen{Client: s.Client, podSet: s.podSet.DeepCopy()}
	testkit.Edit(t, s.Harness, s.podSet, func(live *appsv1alpha1.PodSet) { live.Spec.Size = 2 })

	s.restart()
	s.lifecycle.Client = old
	live := &counted{Reader: s.Live}
	s.lifecycle.Live = live
	for range 4 {
		if _, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)}); err != nil {
			t.Fatal(err)
		}
	}
	if live.reads != 2 || passes != 0 {
		t.Errorf("%d reads past the cache and %d passes, want one of all objects, one of this one, and no pass", live.reads, passes)
	}
	s.lifecycle.Client = s.Client
	s.Clock.Step(flow.RecheckBehind)
	s.pass()
	if passes == 0 {
		t.Error("the object is not worked on although the cache has caught up")
	}
}

// A new object of a kind without finalizers is the process' own as soon as it has written the status.
func TestANewObjectIsNotReadPastTheCache(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.lifecycle.Finalizers = nil
	for want := range 2 {
		live := &counted{Reader: s.Live}
		s.lifecycle.Live = live
		for range 4 {
			s.pass()
		}
		if live.reads != want {
			t.Errorf("%d reads past the cache after %d restarts, want %d", live.reads, want, want)
		}
		s.restart()
		s.lifecycle.Finalizers = nil
	}
}

// An API server that is away when an object is looked at for the first time is asked again soon.
func TestAnObjectThatCannotBeReadIsLookedAtSoon(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pass()
	s.restart()
	s.lifecycle.Live = &away{Reader: s.Live}
	result, err := s.lifecycle.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.podSet)})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 2*time.Second {
		t.Errorf("the pass ends with %+v and %v, want to look again within two seconds", result, err)
	}
}

// away is a reader of an API server that does not answer.
type away struct{ client.Reader }

// List implements client.Reader.
func (*away) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return syscall.ECONNREFUSED
}

// counted counts reads.
type counted struct {
	client.Reader

	reads int
}

// List implements client.Reader.
func (c *counted) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	c.reads++
	return c.Reader.List(ctx, into, options...)
}

// remove deletes the object.
func (s *stage) remove() {
	s.t.Helper()
	if err := s.Live.Delete(s.t.Context(), s.podSet); err != nil {
		s.t.Fatal(err)
	}
}
