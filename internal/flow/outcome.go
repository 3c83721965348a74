// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package flow runs the phases of a reconcile and says in one place what an outcome means for the queue and for the
// conditions. A phase ends in one of four ways:
//
//   - Done: go on with the next phase.
//   - Wait: something else has to happen first. That is not an error and never backs off; a watch or the given delay wakes
//     the object up again.
//   - Stall: only a change of the spec or of the environment helps. The object is checked again from time to time, because
//     not every environment can be watched.
//   - Fail: anything else. The error goes to the queue, which backs off.
package flow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// RecheckStalled is how long a stalled object rests before it is checked again.
const RecheckStalled = 5 * time.Minute

// RecheckRights is how long it rests if a right is missing. An API server that has just started refuses everything for a moment,
// until it has read the roles.
const RecheckRights = 10 * time.Second

// jitterFraction spreads every delay, so that objects that started to wait together do not wake up together.
const jitterFraction = 0.2

type kind int

const (
	done kind = iota
	wait
	stall
	fail
)

// Outcome is how a phase, or a whole pass, ended. The zero value is Done.
type Outcome struct {
	kind   kind
	reason string
	text   string
	after  time.Duration
	err    error
}

// Done says that a phase reached its goal.
func Done() Outcome { return Outcome{} }

// Wait says that something else has to happen first. Message completes the sentence "waiting for ...". After is when to
// look again without being woken up by a watch; 0 relies on the watches.
func Wait(reason, message string, after time.Duration) Outcome {
	return Outcome{kind: wait, reason: reason, text: "waiting for " + message, after: after}
}

// Stall says that only a change of the spec or of the environment helps.
func Stall(reason string, err error) Outcome {
	return Outcome{kind: stall, reason: reason, text: err.Error(), err: err}
}

// Fail says that a phase failed and has to be tried again. A nil error is Done.
func Fail(err error) Outcome {
	if err == nil {
		return Done()
	}
	return Outcome{kind: fail, reason: status.ReasonError, text: err.Error(), err: err}
}

// Refused says how a failed write ended: where the API server refused the content, only another content helps, and the
// outcome is Stall with the given reason; in a namespace that is being deleted there is nothing left to do but wait;
// everything else is Fail, and so is what an API server refuses that has only just started.
func Refused(reason string, err error) Outcome {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return Wait(status.ReasonTerminating, "the namespace to be deleted", 0)
	}
	if kube.IsUnreachable(err) {
		return Fail(err)
	}
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsMethodNotSupported(err) {
		return Stall(reason, err)
	}
	return Fail(err)
}

// IsDone reports whether the phase reached its goal.
func (o Outcome) IsDone() bool { return o.kind == done }

// IsStalled reports whether only a change of the spec or of the environment helps.
func (o Outcome) IsStalled() bool { return o.kind == stall }

// Reason returns the reason for conditions and events, empty when done.
func (o Outcome) Reason() string { return o.reason }

// Message returns the message for conditions and events, empty when done.
func (o Outcome) Message() string { return o.text }

// Err returns the error behind a stalled or failed outcome.
func (o Outcome) Err() error { return o.err }

// Mark adds the outcome to the conditions. A conflict adds nothing: the pass is repeated on fresh data at once.
func (o Outcome) Mark(marks *status.Marks) {
	switch o.kind {
	case done:
	case wait:
		marks.Work(o.reason, o.text)
	case stall:
		marks.Stall(o.reason, o.text)
	case fail:
		if !apierrors.IsConflict(o.err) {
			marks.Work(o.reason, o.text)
		}
	}
}

// Result returns the outcome for the queue. A stalled object does not back off: its error is in its conditions. Neither does one whose
// pass failed because the API server is away: it would rest for long after the API server is back, through no fault of its own.
func (o Outcome) Result() (reconcile.Result, error) {
	switch o.kind {
	case wait:
		return LookAgain(o.after), nil
	case stall:
		return LookAgain(Recheck(o.err)), nil
	case fail:
		if kube.IsUnreachable(o.err) {
			return LookAgain(kube.RetryUnreachable), nil
		}
		return reconcile.Result{}, o.err
	case done:
	}
	return reconcile.Result{}, nil
}

// Recheck returns how long an object rests that err has stalled. Admission refuses as Forbidden too, but only a missing right names a
// user.
func Recheck(err error) time.Duration {
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "is forbidden: User ") {
		return RecheckRights
	}
	return RecheckStalled
}

// Join returns the outcome of a pass whose own outcome is o and whose status write ended with err. A failed status write
// has to be repeated whatever else happened.
func (o Outcome) Join(err error) Outcome {
	if err == nil {
		return o
	}
	return Fail(errors.Join(o.err, err))
}

// Phase is one step of a pass over the scope S.
type Phase[S any] struct {
	// Name appears in errors, completing "cannot ...".
	Name string
	// Run does the step.
	Run func(ctx context.Context, scope S) Outcome
}

// Run runs the phases in order until one is not done, and returns its outcome.
func Run[S any](ctx context.Context, scope S, phases ...Phase[S]) Outcome {
	for _, phase := range phases {
		within, end := tracing.Phase(ctx, phase.Name)
		outcome := phase.Run(within, scope)
		end()
		if outcome.kind == fail && !apierrors.IsConflict(outcome.err) {
			return Fail(fmt.Errorf("cannot %s: %w", phase.Name, outcome.err))
		}
		if !outcome.IsDone() {
			return outcome
		}
	}
	return Done()
}

// LookAgain returns the result of a pass that is done and asks for another one after that time, lengthened by up to a fifth. 0 asks
// for nothing.
func LookAgain(after time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: Jitter(after)}
}

// Jitter returns d lengthened by up to a fifth. Zero stays zero.
func Jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d + time.Duration(rand.Int64N(int64(float64(d)*jitterFraction)+1))
}
