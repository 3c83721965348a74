// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/flow"
)

// TestAnObjectRestsForMinutesAfterItsErrors: a webhook was back, and nodes followed up to 17 minutes later.
func TestAnObjectRestsForMinutesAfterItsErrors(t *testing.T) {
	t.Parallel()
	limiter := flow.Backoff()
	var rest time.Duration
	for failures := range 100 {
		next := limiter.When(reconcile.Request{})
		if next < rest || next > time.Minute {
			t.Fatalf("after %d failures the object rests for %s, and before for %s", failures+1, next, rest)
		}
		rest = next
	}
	if rest < 30*time.Second {
		t.Errorf("an object that always fails is tried every %s", rest)
	}
}
