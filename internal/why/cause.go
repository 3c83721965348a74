// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Cause is why pods do not come.
type Cause struct {
	// Reason is a constant of the API of PodSets.
	Reason string
	// Text says it in a sentence without capital and full stop.
	Text string
	// Refusal is true for what makes the API server refuse to create pods, false for what keeps pods that exist from running.
	Refusal bool
}

func when(holds bool, cause *Cause) *Cause {
	if !holds {
		return nil
	}
	return cause
}

// held says of something that the pool has not written why it does not.
func held(pool Pool, cause *Cause) *Cause {
	state := "in dry run"
	switch {
	case status.IsPaused(pool.Pool):
		state = "paused"
	case !pool.Pool.Spec.DryRun:
		return cause
	}
	cause.Reason = appsv1alpha1.ReasonPoolPaused
	cause.Text = fmt.Sprintf("pool %s is %s, and %s", pool.Name, state, cause.Text)
	return cause
}
