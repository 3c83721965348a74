// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

func TestARequestOutlivesItsCallerForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caller, leave := context.WithCancel(t.Context())
		request, end := machine.Settle(caller)
		defer end()
		leave()
		time.Sleep(machine.Settling - time.Second) //nolint:forbidigo // the time of the bubble
		synctest.Wait()
		if err := request.Err(); err != nil {
			t.Errorf("the request ended with its caller: %v", err)
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // the time of the bubble
		synctest.Wait()
		if request.Err() == nil {
			t.Error("the request goes on for ever")
		}
	})
}

func TestARequestHasTheDeadlineOfItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caller, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		request, end := machine.Settle(caller)
		defer end()
		<-request.Done()
		if err := request.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request ended with %v, want the deadline of its caller", err)
		}
	})
}

func TestNoRequestBeginsForACallerThatHasGone(t *testing.T) {
	t.Parallel()
	caller, leave := context.WithCancel(t.Context())
	leave()
	request, end := machine.Settle(caller)
	defer end()
	if request.Err() == nil {
		t.Error("a request can begin")
	}
}
