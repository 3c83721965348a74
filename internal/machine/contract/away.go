// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// departing: a call to a host that is away never says that a machine is gone.
func departing() cases {
	return cases{
		"a host that goes away is unreachable, and comes back with its machines": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Cut != nil, "the subject cannot make the host unreachable")
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			events := tr.watch(t, tr.installation)

			mend := tr.Cut(t)
			mended := false
			defer func() {
				if !mended {
					mend(t)
				}
			}()
			for call, do := range calls(tr.Driver, spec) {
				wantAway(t, call, do)
			}
			tr.awaitEnd(t, events)

			mended = true
			mend(t)
			tr.eventually(t, "the host answers again", func() bool {
				_, err := tr.Driver.Info(limited(t))
				return err == nil
			})
			tr.wantSame(t, before)
			adopted, err := tr.Driver.Create(limited(t), spec)
			wantSuccess(t, "Create of a machine that was there before", err)
			if adopted.ID != before.ID {
				t.Errorf("the machine was %q and is %q", before.ID, adopted.ID)
			}
			again := tr.watch(t, tr.installation)
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), spec.Identity, pullThePlug()))
			tr.hear(t, again, spec.Identity, "deleted")
		},
	}
}

// wantAway checks that a call to a host that is away says so. A call that hangs can end with its context instead.
func wantAway(t *testing.T, call string, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := do(ctx)
	if errors.Is(err, machine.ErrNotFound) {
		t.Errorf("%s to a host that is away says that a machine is gone: %v", call, err)
		return
	}
	wantError(t, call+" to a host that is away", err, machine.ErrUnreachable, context.DeadlineExceeded)
}
