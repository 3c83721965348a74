// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// Lifecycle reconciles the objects of one kind. It holds what all kinds have in common; a kind fills in what is its own. T is the
// kind, S the scope of a pass, which embeds *Pass[T].
//
// A pass (1) reads the object, (2) stops if the object is gone, is another one than the cache has, or is being deleted and holds no finalizer of
// this kind, (3) ends a pause whose time has come, and adds the finalizer, before anything can happen outside, (4) runs the phases, (5) describes
// the object in its status with at most one write, and (6) records the events once that write has succeeded, and those about what was done even if it
// has not. A status that only tells how far the work is may wait, while its events do not.
type Lifecycle[T status.Object, S any] struct {
	// Client reads from a cache and waits for its own writes.
	Client client.Client
	// Live reads past every cache, which Confirm does. It may be nil in tests.
	Live client.Reader
	// Recorder takes the events.
	Recorder event.Recorder
	// Now returns the time.
	Now func() time.Time

	// New returns an empty object.
	New func() T
	// Finalizers are those of this kind. The first one is added; an object that is being deleted is worked on as long as it holds
	// one of them. A kind without finalizers leaves its children to the garbage collector.
	Finalizers []string
	// NeedsFinalizer reports whether the object needs the finalizer now. Nil means always. Paused objects are never asked about:
	// nothing happens outside because of them.
	NeedsFinalizer func(object T) bool
	// Begin returns the scope of a pass.
	Begin func(pass *Pass[T]) S
	// Phases returns the steps that the state of the object asks for.
	Phases func(scope S) []Phase[S]
	// Describe writes into the status what the pass has observed and done, and returns the marks of the conditions. It is pure. The
	// outcome of the pass, and whether the object is paused, are added to the marks afterwards.
	Describe func(scope S, outcome Outcome) *status.Marks
	// Announce declares which transitions of conditions are recorded as events.
	Announce []status.Announcement
	// Underway are reasons that say no more than that work goes on as it should. As long as only they are to be told, and numbers, the status
	// is written from time to time, the more rarely the more objects are being worked on. All else is written at once. The kind needs a default
	// for its status in the CRD: the first report may wait as well.
	Underway []string
	// Wrote runs after the status has been written and the events have been recorded. It may be nil.
	Wrote func(scope S)
	// Forget drops what is kept in memory about an object that is gone or has been let go, also if another one has its name already. It may be nil.
	Forget func(ctx context.Context, key client.ObjectKey) error

	met       uids
	released  uids
	confirmed uids
	behind    Times
	present   present
	pace      pace
}

// Reconcile implements reconcile.Reconciler.
func (l *Lifecycle[T, S]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := l.New()
	err := l.Client.Get(ctx, request.NamespacedName, object)
	switch {
	case apierrors.IsNotFound(err):
		l.released.drop(request.NamespacedName)
		l.confirmed.drop(request.NamespacedName)
		l.behind.Drop(request.NamespacedName)
		return reconcile.Result{}, l.forget(ctx, request.NamespacedName)
	case err != nil:
		return reconcile.Result{}, err
	case l.ended(object):
		return reconcile.Result{}, l.forget(ctx, request.NamespacedName)
	}
	if err := l.meet(ctx, object); err != nil {
		return reconcile.Result{}, err
	}
	if l.holds(object) || !status.Unwritten(object.GetConditions()) { // somebody has worked on it
		if there, err := l.Confirm(ctx, object); err != nil {
			return Fail(err).Result()
		} else if !there {
			return LookAgain(RecheckBehind), nil
		}
	}

	now := l.Now()
	outcome := l.endPause(ctx, object, now)
	if outcome.IsDone() {
		outcome = l.addFinalizer(ctx, object)
	}
	pass := NewPass(object, now)
	pass.resume = untilResumed(object, now)
	scope := l.Begin(pass)
	if outcome.IsDone() {
		outcome = Run(ctx, scope, l.Phases(scope)...)
	}
	return pass.result(outcome.Join(l.finish(ctx, pass, scope, outcome)))
}

// ended reports whether there is nothing left to do for the object: it is being deleted, and this kind does not hold it, or has let
// it go in a pass that the cache may not have seen. Working on it would make again what its end has just removed.
func (l *Lifecycle[T, S]) ended(object T) bool {
	if l.released.has(object) {
		return true
	}
	return !object.GetDeletionTimestamp().IsZero() && !l.holds(object)
}

// holds reports whether the object has a finalizer of this kind.
func (l *Lifecycle[T, S]) holds(object T) bool {
	return slices.ContainsFunc(object.GetFinalizers(), func(f string) bool { return slices.Contains(l.Finalizers, f) })
}

// endPause removes the annotation of a pause whose time has come.
func (l *Lifecycle[T, S]) endPause(ctx context.Context, object T, now time.Time) Outcome {
	until, ok := status.PausedUntil(object)
	if !ok || now.Before(until) {
		return Done()
	}
	if err := patch.RemoveAnnotation(ctx, l.Client, object, status.PausedAnnotation); err != nil {
		return Fail(fmt.Errorf("cannot end the pause: %w", err))
	}
	return Done()
}

// untilResumed returns when to look whether the pause has ended, and 0 if no time ends it. It looks again at least every hour,
// because clocks can be set.
func untilResumed(object status.Object, now time.Time) time.Duration {
	until, ok := status.PausedUntil(object)
	if !ok || !now.Before(until) {
		return 0
	}
	return min(until.Sub(now), time.Hour)
}

func (l *Lifecycle[T, S]) addFinalizer(ctx context.Context, object T) Outcome {
	if len(l.Finalizers) == 0 || !object.GetDeletionTimestamp().IsZero() || status.IsPaused(object) ||
		l.NeedsFinalizer != nil && !l.NeedsFinalizer(object) {
		return Done()
	}
	added, err := patch.AddFinalizer(ctx, l.Client, object, l.Finalizers[0])
	if err != nil {
		return Fail(fmt.Errorf("cannot add the finalizer: %w", err))
	}
	if added { // so the object was there as the cache had it
		l.confirmed.add(object)
	}
	return Done()
}

// finish writes the status if the pass changed it, and only then records the events: they say what happened, and a pass whose
// status write failed happens again. What it has done does not.
func (l *Lifecycle[T, S]) finish(ctx context.Context, pass *Pass[T], scope S, outcome Outcome) error {
	switch {
	case pass.silent:
		return nil
	case pass.released:
		l.released.add(pass.Object)
		l.Recorder.Record(pass.events...)
		return l.forget(ctx, client.ObjectKeyFromObject(pass.Object))
	}
	pass.Apply(l.Describe(scope, outcome), outcome)
	if l.rests(pass) {
		l.Recorder.Record(pass.events...)
		return nil
	}
	written, err := patch.Status(ctx, l.Client, pass.Before, pass.Object)
	if err != nil {
		l.Recorder.Record(pass.done...)
	}
	if apierrors.IsConflict(err) { // so nothing was written: the next pass begins at once, on what the cache has by then
		return err
	}
	if err != nil {
		// It may have taken effect all the same. To the next pass, an object that the cache shows as before could look as it should be, and nothing
		// but this write tells of a status.
		l.confirmed.drop(client.ObjectKeyFromObject(pass.Object))
		return client.IgnoreNotFound(err)
	}
	if written { // the write carries the version, so the object was there as the cache had it
		l.confirmed.add(pass.Object)
	}
	l.Recorder.Record(append(pass.events, l.announce(pass)...)...)
	if l.Wrote != nil {
		l.Wrote(scope)
	}
	return nil
}

// rests reports whether the status waits, because it only tells how far the work is, and asks for the pass that will write it.
func (l *Lifecycle[T, S]) rests(pass *Pass[T]) bool {
	key := client.ObjectKeyFromObject(pass.Object)
	switch {
	case !status.Progressed(pass.Before.GetConditions(), pass.Object.GetConditions(), l.Underway):
		l.pace.drop(key)
		return false
	case equality.Semantic.DeepEqual(pass.Before, pass.Object):
		l.pace.reported(key, time.Time{})
		return false
	}
	rest := l.pace.rest(pass.Object, pass.Now)
	if rest == 0 {
		l.pace.reported(key, pass.Now)
	}
	pass.LookAgain(rest)
	return rest > 0
}

// announce returns the events of the announced transitions, except those whose reason the pass itself has recorded.
func (l *Lifecycle[T, S]) announce(pass *Pass[T]) []event.Event {
	var list []event.Event
	for _, t := range status.Transitions(l.Announce, pass.Before.GetConditions(), pass.Object.GetConditions()) {
		if slices.ContainsFunc(pass.events, func(e event.Event) bool { return e.Regarding == any(pass.Object) && e.Reason == t.Reason }) {
			continue
		}
		list = append(list, event.Event{Regarding: pass.Object, Warning: t.Warning, Reason: t.Reason, Action: t.Action, Note: t.Note})
	}
	return list
}

// meet drops what is kept of an object that has ended, and whose name another one got before a pass could see that.
func (l *Lifecycle[T, S]) meet(ctx context.Context, object T) error {
	if l.met.hasOther(object) {
		if err := l.forget(ctx, client.ObjectKeyFromObject(object)); err != nil {
			return err
		}
	}
	l.met.add(object)
	return nil
}

func (l *Lifecycle[T, S]) forget(ctx context.Context, key client.ObjectKey) error {
	l.pace.drop(key)
	if l.Forget != nil {
		if err := l.Forget(ctx, key); err != nil {
			return err
		}
	}
	l.met.drop(key)
	return nil
}
