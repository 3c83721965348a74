// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// maxReaders is how many streams a host has at a time.
const maxReaders = 64

// running makes a machine on the host and powers it on.
func running(t *testing.T, driver machine.Driver) machine.Identity {
	t.Helper()
	spec := testSpec(1)
	if err := driver.Prepare(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if _, err := driver.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(t.Context(), spec.Identity); err != nil {
		t.Fatal(err)
	}
	return spec.Identity
}

// TestAttackReadersTakeAllConnections opens as many readers as a host serves. One more is refused, other calls are made, and a reader that
// leaves makes room, once.
func TestAttackReadersTakeAllConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		driver := y.driver(t, "a")
		id := running(t, driver)
		follow := machine.OutputOptions{Tail: -1, Follow: true}
		var open []io.Closer
		for range maxReaders {
			reader, err := driver.Output(t.Context(), id, follow)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, reader)
		}
		if _, err := driver.Output(t.Context(), id, follow); !errors.Is(err, machine.ErrBusy) {
			t.Errorf("one reader too many: %v, want %v", err, machine.ErrBusy)
		}
		if _, err := driver.Get(t.Context(), id); err != nil {
			t.Errorf("Get beside all readers: %v", err)
		}
		for range 2 { // the second time must not make room again
			if err := open[0].Close(); err != nil {
				t.Error(err)
			}
		}
		reader, err := driver.Output(t.Context(), id, follow)
		if err != nil {
			t.Fatalf("after a reader has left: %v", err)
		}
		if _, err := driver.Output(t.Context(), id, follow); !errors.Is(err, machine.ErrBusy) {
			t.Errorf("a reader that is closed twice makes room for two: %v", err)
		}
		for _, closer := range append(open[1:], reader) {
			_ = closer.Close() // whose end is of no interest
		}
	})
}

// TestOutputOutlivesTheLimitOfItsOpening follows a machine for longer than a call may take.
func TestOutputOutlivesTheLimitOfItsOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) { options.Limits.Call = time.Minute })
		synctest.Wait()
		driver := y.driver(t, "a")
		id := running(t, driver)
		reader, err := driver.Output(t.Context(), id, machine.OutputOptions{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reader.Close() }()
		pass(t, time.Hour)
		if err := driver.Stop(t.Context(), id, machine.PowerOff{Mode: machine.Hard}); err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(reader); err != nil || len(said) == 0 {
			t.Errorf("after an hour: %q, %v", said, err)
		}
	})
}

// TestOutputOfAHostThatHangs gives up when the limit of a call is over, and keeps no slot.
func TestOutputOfAHostThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) { options.Limits.Call = time.Minute })
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallOutput, Hang: true})
		driver := y.driver(t, "a")
		for range maxReaders + 1 {
			begin := time.Now()
			_, err := driver.Output(t.Context(), machine.Identity{}, machine.OutputOptions{})
			if took := time.Since(begin); took != time.Minute || !errors.Is(err, machine.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("it took %s and said %v, want a minute and %v", took, err, machine.ErrUnreachable)
			}
		}
	})
}
