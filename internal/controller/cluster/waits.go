// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// retry decides whether a run that failed is repeated now, and if not, when. Done means now.
func retry(spec clusterprovisionerv1alpha1.Retry, last *clusterprovisionerv1alpha1.Operation, now time.Time) (flow.Outcome, time.Time) {
	switch {
	case last.Reason == "": // it has succeeded with a configuration that nobody knows any more, and that a person can have changed since
		return flow.Done(), time.Time{}
	case !provision.Retryable(last.Reason):
		return flow.Stall(last.Reason, errors.New(last.Message)), time.Time{}
	case last.Attempt >= cmp.Or(spec.Attempts, clusterprovisionerv1alpha1.DefaultAttempts):
		return flow.Stall(last.Reason, fmt.Errorf("gave up after %d attempts: %s", last.Attempt, last.Message)), time.Time{}
	}
	return pause(spec, last, now)
}

// pause waits until the next attempt is due.
func pause(spec clusterprovisionerv1alpha1.Retry, last *clusterprovisionerv1alpha1.Operation, now time.Time) (flow.Outcome, time.Time) {
	ended := last.EndTime
	if ended == nil {
		ended = last.StartTime
	}
	if ended == nil {
		return flow.Done(), time.Time{}
	}
	rest := backoff(spec, last.Attempt)
	at := ended.Add(rest)
	left := clock.Left(at, rest, now)
	if left == 0 {
		return flow.Done(), time.Time{}
	}
	return flow.Wait(clusterprovisionerv1alpha1.ReasonRetrying,
		fmt.Sprintf("attempt %d after %s: %s", last.Attempt+1, last.Reason, last.Message), left), at
}

// backoff is the pause after that many failures: it doubles up to the maximum.
func backoff(spec clusterprovisionerv1alpha1.Retry, failures int32) time.Duration {
	pause := cmp.Or(spec.Initial.Duration, clusterprovisionerv1alpha1.DefaultRetryInitial)
	most := max(cmp.Or(spec.Max.Duration, clusterprovisionerv1alpha1.DefaultRetryMax), pause)
	for range failures - 1 {
		if pause *= 2; pause >= most {
			return most
		}
	}
	return pause
}

// working waits for a run.
func working(action provision.Action) flow.Outcome {
	if action == provision.Remove {
		return flow.Wait(reasonFor(action), "the tool to remove the cluster", lookAgain)
	}
	return flow.Wait(reasonFor(action), "the tool to apply the configuration", lookAgain)
}

// reasonFor is the reason of a wait for a run.
func reasonFor(action provision.Action) string {
	if action == provision.Remove {
		return clusterprovisionerv1alpha1.ReasonRemoving
	}
	return clusterprovisionerv1alpha1.ReasonApplying
}

// paused waits until a person lets Windlass go on.
func paused() flow.Outcome {
	return flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)
}

// stall waits until a person changes what keeps the tool from being started, or gives up what it would remove.
func (l *launch) stall(reason string, err error) flow.Outcome {
	if l.action == provision.Remove {
		err = errors.New(err.Error() + orphanHint)
	}
	return flow.Stall(reason, err)
}

// stall waits until a person changes what is refused.
func (r *refusal) stall() flow.Outcome { return flow.Stall(r.reason, errors.New(r.message)) }
