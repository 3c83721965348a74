// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/machine"
)

// TestRefusalsOfHosts wants a code for every kind of error, and the words of the host in none of them: they can name addresses.
func TestRefusalsOfHosts(t *testing.T) {
	t.Parallel()
	for kind, want := range map[error]view.Code{
		machine.ErrNotFound:    "NotYet",
		machine.ErrUnsupported: "Unsupported",
		machine.ErrBusy:        "TooManyRequests",
		machine.ErrUnreachable: "HostUnreachable",
		errors.New("whatever"): "HostUnreachable",
	} {
		err := refusal(fmt.Errorf("cannot dial 192.0.2.7: %w", kind))
		problem, ok := errors.AsType[*view.Problem](err)
		if !ok || problem.Code != want || !errors.Is(err, kind) {
			t.Errorf("%v is %+v, want %s", kind, problem, want)
			continue
		}
		if said := fmt.Sprintf("%+v", *problem); strings.Contains(said, "192.0.2.7") {
			t.Errorf("the caller is told %s", said)
		}
	}
	if err := refusal(nil); err != nil {
		t.Errorf("no error is %v", err)
	}
}

// TestInstanceThatWaitsReachesNoHost asks an instance that is not the leader, whose hosts are nil: a call that gets through panics.
func TestInstanceThatWaitsReachesNoHost(t *testing.T) {
	t.Parallel()
	waiting := &reach{leading: make(chan struct{})}
	_, err := waiting.Output(t.Context(), "ns", "vm", -1, false)
	if problem, ok := errors.AsType[*view.Problem](err); !ok || problem.Code != "NotLeading" || problem.RetryAfter == "" {
		t.Errorf("got %v, want NotLeading, and when to ask again", err)
	}
	if waiting.hosts() != nil {
		t.Error("without the controller of VirtualMachines there are hosts")
	}
}
