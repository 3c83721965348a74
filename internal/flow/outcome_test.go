// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
)

func TestRunStopsAtTheFirstPhaseThatIsNotDone(t *testing.T) {
	t.Parallel()
	failure := errors.New("boom")
	cases := map[string]struct {
		outcome flow.Outcome
		ran     []string
		reason  string
		err     string
	}{
		"done goes on":            {outcome: flow.Done(), ran: []string{"first", "second"}},
		"wait stops":              {outcome: flow.Wait("Waiting", "a thing", 0), ran: []string{"first"}, reason: "Waiting"},
		"stall stops":             {outcome: flow.Stall("Refused", failure), ran: []string{"first"}, reason: "Refused"},
		"failure names the phase": {outcome: flow.Fail(failure), ran: []string{"first"}, reason: "Error", err: "cannot first: boom"},
		"a nil failure is done":   {outcome: flow.Fail(nil), ran: []string{"first", "second"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran []string
			phase := func(name string, outcome flow.Outcome) flow.Phase[struct{}] {
				return flow.Phase[struct{}]{Name: name, Run: func(context.Context, struct{}) flow.Outcome {
					ran = append(ran, name)
					return outcome
				}}
			}
			got := flow.Run(t.Context(), struct{}{}, phase("first", tc.outcome), phase("second", flow.Done()))
			if diff := cmp.Diff(tc.ran, ran); diff != "" {
				t.Errorf("phases differ (-want +got):\n%s", diff)
			}
			if got.Reason() != tc.reason {
				t.Errorf("reason is %q, want %q", got.Reason(), tc.reason)
			}
			_, err := got.Result()
			if (err == nil) != (tc.err == "") || (err != nil && err.Error() != tc.err) {
				t.Errorf("the queue gets %v, want %q", err, tc.err)
			}
		})
	}
}

func TestResultNeverBacksOffWhatIsNoError(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		outcome  flow.Outcome
		min, max time.Duration
	}{
		"done rests":                      {outcome: flow.Done()},
		"waiting relies on watches":       {outcome: flow.Wait("W", "x", 0)},
		"waiting comes back with jitter":  {outcome: flow.Wait("W", "x", time.Minute), min: time.Minute, max: 72 * time.Second},
		"stalled is checked now and then": {outcome: flow.Stall("S", errors.New("x")), min: flow.RecheckStalled, max: flow.RecheckStalled * 6 / 5},
		"a right that an API server does not know of yet is asked for again soon": {
			outcome: flow.Refused("S", apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web",
				errors.New(`User "system:serviceaccount:windlass-system:windlass" cannot patch resource "deployments"`))),
			min: flow.RecheckRights, max: flow.RecheckRights * 6 / 5,
		},
		"what admission refuses is not": {
			outcome: flow.Refused("S", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web", errors.New("denied by a policy"))),
			min:     flow.RecheckStalled, max: flow.RecheckStalled * 6 / 5,
		},
		"an outage is waited out": {
			outcome: flow.Fail(apierrors.NewServiceUnavailable("not ready")), min: kube.RetryUnreachable, max: kube.RetryUnreachable * 6 / 5,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 100 {
				result, err := tc.outcome.Result()
				if err != nil || result.RequeueAfter < tc.min || result.RequeueAfter > tc.max {
					t.Fatalf("result is %v, %v, want between %v and %v", result, err, tc.min, tc.max)
				}
			}
		})
	}
}

func TestRefusedTellsContentFromCircumstance(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "things"}
	cases := map[string]struct {
		err     error
		stalled bool
	}{
		"invalid content stalls": {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "x", nil), stalled: true},
		"a missing right stalls": {err: apierrors.NewForbidden(resource, "x", errors.New("no")), stalled: true},
		"an API server that does not know the owner's kind yet is tried again": {
			err: apierrors.NewForbidden(resource, "x", errors.New("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for Kind Pool")),
		},
		"a conflict is tried again":  {err: apierrors.NewConflict(resource, "x", errors.New("old"))},
		"overload is tried again":    {err: apierrors.NewTooManyRequests("busy", 1)},
		"a lost line is tried again": {err: errors.New("connection refused")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := flow.Refused("Refused", tc.err).IsStalled(); got != tc.stalled {
				t.Errorf("stalled is %t, want %t", got, tc.stalled)
			}
		})
	}
}
