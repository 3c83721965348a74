// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/windlass-operator/windlass/internal/machine"
)

// crowding: a driver serves many callers at the same time, each with a machine of its own.
func crowding() cases {
	return cases{
		"eight machines live at the same time": func(t *testing.T, tr *trial) {
			const many = 8
			specs := make([]machine.Spec, many)
			for i := range specs {
				specs[i] = tr.spec()
				tr.removeAtEnd(t, specs[i].Identity)
			}
			ctx, errs := limited(t), make([]error, many)
			var group sync.WaitGroup
			for i, spec := range specs {
				group.Go(func() { errs[i] = live(ctx, tr.Driver, spec) })
			}
			group.Wait()
			for _, err := range errs {
				wantSuccess(t, "one of many lives", err)
			}
			for _, spec := range specs {
				tr.wantNone(t, spec.Identity)
			}
		},
	}
}

// live takes a machine from its image to its end, with every kind of call.
func live(ctx context.Context, driver machine.Driver, spec machine.Spec) error {
	if err := driver.Prepare(ctx, spec); err != nil {
		return fmt.Errorf("cannot prepare machine %q: %w", spec.UID, err)
	}
	if _, err := driver.Create(ctx, spec); err != nil {
		return fmt.Errorf("cannot create machine %q: %w", spec.UID, err)
	}
	if err := driver.Start(ctx, spec.Identity); err != nil {
		return fmt.Errorf("cannot start machine %q: %w", spec.UID, err)
	}
	if _, err := driver.List(ctx, spec.Installation); err != nil {
		return fmt.Errorf("cannot list machines: %w", err)
	}
	if _, err := driver.Stats(ctx, spec.Installation); err != nil {
		return fmt.Errorf("cannot read counters: %w", err)
	}
	if err := driver.Stop(ctx, spec.Identity, pullThePlug()); err != nil {
		return fmt.Errorf("cannot stop machine %q: %w", spec.UID, err)
	}
	observed, err := driver.Get(ctx, spec.Identity)
	if err != nil {
		return fmt.Errorf("cannot get machine %q: %w", spec.UID, err)
	}
	if observed.State != machine.StateStopped {
		return fmt.Errorf("cannot stop machine %q: it is %s", spec.UID, observed.State)
	}
	if err := driver.Delete(ctx, spec.Identity, pullThePlug()); err != nil {
		return fmt.Errorf("cannot delete machine %q: %w", spec.UID, err)
	}
	return nil
}
