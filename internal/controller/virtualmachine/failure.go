// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
	"github.com/windlass-operator/windlass/internal/status"
)

// Attempts are 10 s × n² apart, at most 300 s. A machine that has run for that long after a crash has recovered.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 300 * time.Second
)

// fail counts a failure and sets the time of the next attempt.
func (p *planner) fail(reason, text string) {
	count := int32(1)
	if p.failure != nil {
		count = p.failure.Count + 1
	}
	wait := backoff(count)
	if permanent(reason) {
		wait = flow.RecheckStalled
	}
	retry := metav1.NewTime(p.now.Add(wait).Truncate(time.Second))
	p.failure = &cloudnativev1alpha1.StartFailure{Count: count, RetryAfter: &retry, Reason: reason}
	p.trouble = status.Clip(text, maxReason)
	p.events = append(p.events, failed(p.vm, reason, p.trouble))
}

// clear forgets all failures.
func (p *planner) clear() { p.failure, p.trouble = nil, "" }

// backingOff reports whether the next attempt is not due yet, and describes that.
func (p *planner) backingOff() bool {
	left := p.untilRetry()
	if left == 0 {
		return false
	}
	reason := p.failure.Reason
	switch {
	case p.seen.found != nil && p.seen.found.State == machine.StateRunning:
		p.phase = cloudnativev1alpha1.PhaseActive
	case p.ours && p.seen.found.State == machine.StatePaused:
		p.phase = cloudnativev1alpha1.PhaseSuspended
	case reason == cloudnativev1alpha1.ReasonStopped:
		p.phase = cloudnativev1alpha1.PhaseStopped
	case reason == cloudnativev1alpha1.ReasonNoCapacity && p.seen.found == nil:
		p.phase = cloudnativev1alpha1.PhasePending
	case reason == cloudnativev1alpha1.ReasonImageNotFound || reason == cloudnativev1alpha1.ReasonImagePullFailed:
		p.phase = cloudnativev1alpha1.PhaseImagePullBackOff
	case ended(reason):
		p.phase = cloudnativev1alpha1.PhaseCrashLoopBackOff
	default:
		p.phase = cloudnativev1alpha1.PhaseFailed
	}
	if p.vm.DeletionTimestamp != nil {
		p.phase = cloudnativev1alpha1.PhaseTerminating
	}
	if permanent(reason) {
		p.outcome = flow.Stall(reason, errors.New(p.trouble))
		return true
	}
	text := fmt.Sprintf("the next attempt, after %s", attempts(p.failure.Count))
	if reason == cloudnativev1alpha1.ReasonStopped {
		text = "the next start"
	}
	if p.trouble != "" {
		text += ": " + p.trouble
	}
	p.outcome = flow.Wait(reason, text, left)
	return true
}

// untilRetry returns how long it is until the next attempt, and 0 if it is due.
func (p *planner) untilRetry() time.Duration {
	if p.failure == nil || p.failure.RetryAfter == nil {
		return 0
	}
	return clock.Left(p.failure.RetryAfter.Time, max(lastBackoff, flow.RecheckStalled), p.now)
}

// backoff is how long to wait after that many failures in a row.
func backoff(count int32) time.Duration {
	n := min(max(count, 1), 6) // the sixth is beyond the limit
	return min(time.Duration(n*n)*firstBackoff, lastBackoff)
}

// ended reports whether the reason is that of a machine which was started, and has ended or disappeared.
func ended(reason string) bool {
	switch reason {
	case cloudnativev1alpha1.ReasonCrashed, cloudnativev1alpha1.ReasonStopped, cloudnativev1alpha1.ReasonInstanceLost:
		return true
	}
	return false
}

// permanent reports whether another attempt hardly helps.
func permanent(reason string) bool {
	switch reason {
	case cloudnativev1alpha1.ReasonInvalidSpec, cloudnativev1alpha1.ReasonNotAllowed, cloudnativev1alpha1.ReasonUnsupported, cloudnativev1alpha1.ReasonNameTaken,
		cloudnativev1alpha1.ReasonDiskMismatch, cloudnativev1alpha1.ReasonDiskLost:
		return true
	}
	return false
}

// reasonOf returns the reason of a step that failed.
func reasonOf(at operation.Step, err error) string {
	switch {
	case errors.Is(err, machine.ErrImageNotFound):
		return cloudnativev1alpha1.ReasonImageNotFound
	case errors.Is(err, machine.ErrImagePull):
		return cloudnativev1alpha1.ReasonImagePullFailed
	case errors.Is(err, machine.ErrConflict):
		return cloudnativev1alpha1.ReasonNameTaken
	case errors.Is(err, machine.ErrDiskMismatch):
		return cloudnativev1alpha1.ReasonDiskMismatch
	case errors.Is(err, machine.ErrDiskLost):
		return cloudnativev1alpha1.ReasonDiskLost
	case errors.Is(err, machine.ErrNotAllowed):
		return cloudnativev1alpha1.ReasonNotAllowed
	case errors.Is(err, machine.ErrInvalid):
		return cloudnativev1alpha1.ReasonInvalidSpec
	case errors.Is(err, machine.ErrUnsupported):
		return cloudnativev1alpha1.ReasonUnsupported
	case errors.Is(err, machine.ErrNoCapacity):
		return cloudnativev1alpha1.ReasonNoCapacity
	}
	switch at {
	case operation.Prepare:
		return cloudnativev1alpha1.ReasonImagePullFailed
	case operation.Create:
		return cloudnativev1alpha1.ReasonCreateFailed
	case operation.Stop:
		return cloudnativev1alpha1.ReasonStopFailed
	case operation.Suspend:
		return cloudnativev1alpha1.ReasonSuspendFailed
	case operation.Resume:
		return cloudnativev1alpha1.ReasonResumeFailed
	case operation.Resize:
		return cloudnativev1alpha1.ReasonResizeFailed
	case operation.Remove:
		return cloudnativev1alpha1.ReasonDeleteFailed
	case operation.Replace:
		if errors.Is(err, machine.ErrBusy) {
			return cloudnativev1alpha1.ReasonStopFailed // of the old machine
		}
		return cloudnativev1alpha1.ReasonCreateFailed
	case operation.Start:
	}
	return cloudnativev1alpha1.ReasonStartFailed
}
