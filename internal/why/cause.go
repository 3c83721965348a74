// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Cause is why pods are missing.
type Cause struct {
	// Reason is a constant of the API of PodSets.
	Reason string
	// Text explains it in a sentence without a capital letter and a full stop.
	Text string
	// Refusal is true if the API server refuses to create the pods, false if pods exist and cannot run.
	Refusal bool
}

// when returns the cause if it holds, and nil otherwise.
func when(holds bool, cause *Cause) *Cause {
	if !holds {
		return nil
	}
	return cause
}

// held replaces the cause if the pool is paused or in dry run, and therefore has not written what is missing.
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
