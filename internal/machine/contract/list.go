// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/machine"
)

// listing: every machine of the installation, in any state, and no other.
func listing() cases {
	return cases{
		"an installation without machines lists none": func(t *testing.T, tr *trial) {
			list, err := tr.Driver.List(limited(t), newUUID())
			wantSuccess(t, "List", err)
			if len(list) != 0 {
				t.Errorf("List has %+v, want none", list)
			}
		},
		"machines in every state are listed by UID, as Get shows them": func(t *testing.T, tr *trial) {
			var want []machine.Observed
			for _, reach := range []func(*testing.T) machine.Spec{tr.created, tr.stopped, tr.running} {
				want = append(want, tr.get(t, reach(t).Identity))
			}
			slices.SortFunc(want, func(a, b machine.Observed) int { return strings.Compare(a.UID, b.UID) })
			got, err := tr.Driver.List(limited(t), tr.installation)
			wantSuccess(t, "List", err)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("List differs from what Get shows (-get +list):\n%s", diff)
			}
		},
		"a machine of another installation is neither listed nor found": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			foreign := spec.Identity
			foreign.Installation = newUUID()
			tr.wantNone(t, foreign)
			wantError(t, "Start", tr.Driver.Start(limited(t), foreign), machine.ErrNotFound)
			wantError(t, "Stop", tr.Driver.Stop(limited(t), foreign, pullThePlug()), machine.ErrNotFound)
			wantError(t, "Resize", tr.Driver.Resize(limited(t), foreign, spec.Resources), machine.ErrNotFound)
			tr.wantState(t, spec.Identity, machine.StateRunning)
		},
		"a foreign machine is not listed": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Occupy != nil, "the subject cannot make foreign machines")
			id := tr.identity()
			untouched := tr.Occupy(t, id)
			tr.wantNone(t, id)
			for _, installation := range []string{"", tr.installation} {
				list, err := tr.Driver.List(limited(t), installation)
				wantSuccess(t, "List", err)
				if len(list) != 0 {
					t.Errorf("List of installation %q has %+v, want none", installation, list)
				}
			}
			untouched(t)
		},
	}
}
