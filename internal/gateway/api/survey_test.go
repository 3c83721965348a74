// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"testing"
)

// Requests that read everything wait for each other, and leave when their caller does.
func TestAttackSurveysAtOnce(t *testing.T) {
	t.Parallel()
	a := &API{surveys: make(chan struct{}, maxSurveys)}
	var leave func()
	for range maxSurveys {
		var err error
		if leave, err = a.survey(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.survey(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("one more than there are slots: %v", err)
	}
	leave()
	if _, err := a.survey(t.Context()); err != nil {
		t.Errorf("a slot that was left: %v", err)
	}
}
