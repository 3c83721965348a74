// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// cancelling: every call ends with its context.
func cancelling() cases {
	return cases{
		"a call whose context has ended says so": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for call, do := range calls(tr.Driver, spec) {
				wantError(t, call, do(ctx), context.Canceled)
			}
			tr.wantState(t, spec.Identity, machine.StateRunning)
		},
		"a stop that waits ends with its context": func(t *testing.T, tr *trial) {
			spec := tr.stubborn(t)
			// The grace is far beyond the deadline, so that only the deadline can end the call.
			ctx, cancel := context.WithTimeout(t.Context(), 2*tr.ShortGrace)
			defer cancel()
			err := tr.Driver.Stop(ctx, spec.Identity, machine.PowerOff{Mode: machine.Soft, Grace: time.Hour})
			wantError(t, "Stop", err, context.DeadlineExceeded)
		},
	}
}

// calls are all methods of a driver, by name.
func calls(driver machine.Driver, spec machine.Spec) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"Info": func(ctx context.Context) error { _, err := driver.Info(ctx); return err },
		"Get":  func(ctx context.Context) error { _, err := driver.Get(ctx, spec.Identity); return err },
		"List": func(ctx context.Context) error { _, err := driver.List(ctx, spec.Installation); return err },
		"Stats": func(ctx context.Context) error {
			_, err := driver.Stats(ctx, spec.Installation)
			return err
		},
		"Watch":   func(ctx context.Context) error { _, err := driver.Watch(ctx, spec.Installation); return err },
		"Prepare": func(ctx context.Context) error { return driver.Prepare(ctx, spec) },
		"Create":  func(ctx context.Context) error { _, err := driver.Create(ctx, spec); return err },
		"Replace": func(ctx context.Context) error { _, err := driver.Replace(ctx, spec, pullThePlug()); return err },
		"Start":   func(ctx context.Context) error { return driver.Start(ctx, spec.Identity) },
		"Stop":    func(ctx context.Context) error { return driver.Stop(ctx, spec.Identity, pullThePlug()) },
		"Suspend": func(ctx context.Context) error { return driver.Suspend(ctx, spec.Identity) },
		"Resize":  func(ctx context.Context) error { return driver.Resize(ctx, spec.Identity, spec.Resources) },
		"Delete":  func(ctx context.Context) error { return driver.Delete(ctx, spec.Identity, pullThePlug()) },
	}
}
