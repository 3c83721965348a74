// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/operation"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	key  = types.NamespacedName{Namespace: "default", Name: "test-vm"}

	errRefused = errors.New("refused")
)

const uid = types.UID("5a1b0f5e")

// host is a driver whose calls are recorded and can be made to fail, to panic or to hang.
type host struct {
	machine.Driver

	adopts bool
	fails  string
	panics string
	hangs  string

	mu    sync.Mutex
	calls []string
}

func (h *host) call(ctx context.Context, name string) error {
	h.mu.Lock()
	h.calls = append(h.calls, name)
	h.mu.Unlock()
	switch name {
	case h.fails:
		return errRefused
	case h.panics:
		panic("no domain")
	case h.hangs:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (h *host) Prepare(ctx context.Context, _ machine.Spec) error { return h.call(ctx, "prepare") }

func (h *host) Create(ctx context.Context, _ machine.Spec) (machine.Observed, error) {
	made := machine.Observed{State: machine.StateCreated}
	if h.adopts {
		made.State = machine.StateRunning
	}
	return made, h.call(ctx, "create")
}

func (h *host) Replace(ctx context.Context, _ machine.Spec, _ machine.PowerOff) (machine.Observed, error) {
	return machine.Observed{State: machine.StateCreated}, h.call(ctx, "replace")
}

func (h *host) Start(ctx context.Context, _ machine.Identity) error { return h.call(ctx, "start") }

func (h *host) Stop(ctx context.Context, _ machine.Identity, _ machine.PowerOff) error {
	return h.call(ctx, "stop")
}

func (h *host) Suspend(ctx context.Context, _ machine.Identity) error { return h.call(ctx, "suspend") }

func (h *host) Resize(ctx context.Context, _ machine.Identity, _ machine.Resources) error {
	return h.call(ctx, "resize")
}

func (h *host) Delete(ctx context.Context, _ machine.Identity, _ machine.PowerOff) error {
	return h.call(ctx, "delete")
}

// newRunner returns a Runner and the channel of the objects whose operations have ended.
func newRunner() (*operation.Runner, <-chan types.NamespacedName) {
	ended := make(chan types.NamespacedName, 8)
	return operation.NewRunner(func() time.Time { return noon }, func(key types.NamespacedName) { ended <- key }), ended
}

// of returns an operation with these steps.
func of(steps ...operation.Step) operation.Operation {
	return operation.Operation{
		Reason: "Testing", Steps: steps, Spec: machine.Spec{Identity: machine.Identity{UID: string(uid)}},
	}
}

func TestRunnerPerformsTheSteps(t *testing.T) {
	t.Parallel()
	all := []operation.Step{
		operation.Prepare, operation.Create, operation.Replace, operation.Start, operation.Suspend, operation.Resume, operation.Stop, operation.Resize,
		operation.Remove,
	}
	cases := map[string]struct {
		host  *host
		calls []string
		want  operation.Progress
		err   string
	}{
		"all steps in order": {
			host: &host{}, calls: []string{"prepare", "create", "replace", "start", "suspend", "start", "stop", "resize", "delete"},
			want: operation.Progress{At: operation.Remove},
		},
		"a step that fails ends the operation": {
			host: &host{fails: "start"}, calls: []string{"prepare", "create", "replace", "start"},
			want: operation.Progress{At: operation.Start}, err: "refused",
		},
		"a machine that existed is adopted": {
			host: &host{adopts: true, fails: "start"}, calls: []string{"prepare", "create", "replace", "start"},
			want: operation.Progress{At: operation.Start, Adopted: true}, err: "refused",
		},
		"a driver that panics fails the operation": {
			host: &host{panics: "create"}, calls: []string{"prepare", "create"},
			want: operation.Progress{At: operation.Create}, err: "cannot create the machine: the driver panicked: no domain",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runner, ended := newRunner()
			if !runner.Start(t.Context(), key, tc.host, of(all...)) {
				t.Fatal("the operation does not begin")
			}
			if got := <-ended; got != key {
				t.Errorf("the operation of %s has ended", got)
			}
			got := runner.Look(key, uid)
			tc.want.Operation, tc.want.Began, tc.want.Done = of(all...), noon, true
			if diff := cmp.Diff(&tc.want, got, cmpopts.IgnoreFields(operation.Progress{}, "Err")); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
			if text := messageOf(got.Err); text != tc.err {
				t.Errorf("error is %q, want %q", text, tc.err)
			}
			if diff := cmp.Diff(tc.calls, tc.host.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRunnerRunsOneOperationForAnObject(t *testing.T) {
	t.Parallel()
	runner, ended := newRunner()
	if !runner.Start(t.Context(), key, &host{hangs: "prepare"}, of(operation.Prepare)) {
		t.Fatal("the first operation does not begin")
	}
	if runner.Start(t.Context(), key, &host{}, of(operation.Start)) {
		t.Error("a second operation begins beside the first")
	}
	other := types.NamespacedName{Namespace: "default", Name: "other"}
	if !runner.Start(t.Context(), other, &host{}, of(operation.Start)) {
		t.Error("the operation of another object waits")
	}
	if got := <-ended; got != other {
		t.Errorf("the operation of %s has ended", got)
	}
	if runner.Look(key, "another") != nil {
		t.Error("an earlier object of the name has the operation, too")
	}
	runner.Cancel(key)
	<-ended
	if got := runner.Look(key, uid); !got.Ended() || !got.Canceled || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("after Cancel, the operation is %+v", got)
	}
}

func TestRunnerKeepsAResultUntilItIsAcknowledged(t *testing.T) {
	t.Parallel()
	runner, ended := newRunner()
	runner.Start(t.Context(), key, &host{hangs: "stop"}, of(operation.Stop))
	running := runner.Look(key, uid)
	runner.Acknowledge(key, running)
	if !runner.Look(key, uid).Running() {
		t.Fatal("a running operation was acknowledged")
	}
	runner.Cancel(key)
	<-ended
	result := runner.Look(key, uid)
	earlier := *result
	earlier.Began = noon.Add(-time.Minute)
	runner.Acknowledge(key, &earlier)
	if runner.Look(key, uid) == nil {
		t.Fatal("the result of another operation was acknowledged")
	}
	runner.Acknowledge(key, result)
	if runner.Look(key, uid) != nil {
		t.Error("the result is still there")
	}
}

func TestRunnerForgetsAnObjectThatIsGone(t *testing.T) {
	t.Parallel()
	runner, ended := newRunner()
	runner.Start(t.Context(), key, &host{hangs: "prepare"}, of(operation.Prepare))
	runner.Forget(key)
	<-ended
	runner.Forget(key)
	if got := runner.Look(key, uid); got != nil {
		t.Errorf("there is %+v", got)
	}
}

func TestRunnerDrains(t *testing.T) {
	t.Parallel()
	runner, ended := newRunner()
	hanging := &host{hangs: "prepare"}
	runner.Start(t.Context(), key, hanging, of(operation.Prepare, operation.Create))
	runner.Drain(t.Context())
	<-ended
	if got := runner.Look(key, uid); !got.Ended() || !got.Canceled {
		t.Errorf("the operation is %+v", got)
	}
	if slices.Contains(hanging.calls, "create") {
		t.Error("a step follows the one that was canceled")
	}
	if runner.Start(t.Context(), types.NamespacedName{Name: "other"}, &host{}, of(operation.Start)) {
		t.Error("an operation begins after Drain")
	}
}
