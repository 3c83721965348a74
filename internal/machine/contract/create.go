// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/machine"
)

// creating: a machine is made once, as specified, and never from somebody else's.
func creating() cases {
	return cases{
		"a new machine is as specified and has never run": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			created := tr.create(t, spec)
			want := machine.Observed{
				Identity:  spec.Identity,
				State:     machine.StateCreated,
				SpecHash:  spec.Hash,
				Resources: spec.Resources,
			}
			given := cmpopts.IgnoreFields(machine.Observed{}, "ID", "NativeName", "CreatedAt", "Disks", "Addresses", "Ports")
			if diff := cmp.Diff(want, created, given); diff != "" {
				t.Errorf("Create returned something else (-want +got):\n%s", diff)
			}
			if created.ID == "" || created.NativeName == "" {
				t.Errorf("the machine has id %q and name %q, want both set", created.ID, created.NativeName)
			}
			if diff := cmp.Diff(created, tr.get(t, spec.Identity)); diff != "" {
				t.Errorf("Get does not return what Create did (-create +get):\n%s", diff)
			}
		},
		"creating what exists adopts it as it is": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			other := spec
			other.Hash = "another"
			other.Resources.MemoryBytes *= 2
			adopted, err := tr.Driver.Create(limited(t), other)
			wantSuccess(t, "Create of a machine that exists", err)
			if adopted.ID != before.ID || adopted.SpecHash != spec.Hash || adopted.State != machine.StateRunning {
				t.Errorf("Create did not adopt %+v but returned %+v", before, adopted)
			}
			if diff := cmp.Diff(spec.Resources, adopted.Resources); diff != "" {
				t.Errorf("adoption changed the size (-before +after):\n%s", diff)
			}
		},
		"what a crashed manager has created is adopted by the next one": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Again != nil, "the driver cannot be opened twice on a host")
			spec := tr.spec()
			created := tr.create(t, spec)
			next := tr.Again(t)
			defer func() { wantSuccess(t, "Close", next.Close()) }()
			adopted, err := next.Create(limited(t), spec)
			wantSuccess(t, "Create after a crash", err)
			if adopted.ID != created.ID {
				t.Errorf("the next manager has %q, want %q", adopted.ID, created.ID)
			}
			list, err := next.List(limited(t), tr.installation)
			wantSuccess(t, "List after a crash", err)
			if len(list) != 1 {
				t.Errorf("there are %d machines, want one: %+v", len(list), list)
			}
		},
		"two namespaces can have machines with the same name": func(t *testing.T, tr *trial) {
			a := tr.identity()
			b := tr.identity()
			b.Name, b.Namespace = a.Name, "contract-too"
			first, second := tr.create(t, tr.Spec(a)), tr.create(t, tr.Spec(b))
			if first.ID == second.ID || first.NativeName == second.NativeName {
				t.Errorf("both machines are %q with name %q", first.ID, first.NativeName)
			}
			wantSuccess(t, "Delete of one", tr.Driver.Delete(limited(t), a, pullThePlug()))
			tr.wantNone(t, a)
			tr.wantSame(t, second)
		},
		"a retained machine does not block its successor": func(t *testing.T, tr *trial) {
			retained := tr.spec()
			first := tr.create(t, retained)
			successor := tr.identity()
			successor.Namespace, successor.Name = retained.Namespace, retained.Name
			second := tr.create(t, tr.Spec(successor))
			if first.ID == second.ID {
				t.Errorf("the successor took over %q, which belongs to another VirtualMachine", first.ID)
			}
			tr.wantSame(t, first)
		},
		"a foreign machine with the name is left alone": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Occupy != nil, "the subject cannot make foreign machines")
			spec := tr.spec()
			untouched := tr.Occupy(t, spec.Identity)
			tr.removeAtEnd(t, spec.Identity)
			tr.wantNone(t, spec.Identity)
			wantSuccess(t, "Prepare", tr.Driver.Prepare(limited(t), spec))
			_, err := tr.Driver.Create(limited(t), spec)
			if err != nil {
				wantError(t, "Create under a taken name", err, machine.ErrConflict)
			} else {
				tr.start(t, spec.Identity)
			}
			untouched(t)
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), spec.Identity, pullThePlug()))
			untouched(t)
		},
		"more CPU than the host has is refused and leaves nothing": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			spec.Resources.MilliCPU = 2*tr.info.Capacity.MilliCPU + 1000
			tr.removeAtEnd(t, spec.Identity)
			wantSuccess(t, "Prepare", tr.Driver.Prepare(limited(t), spec))
			_, err := tr.Driver.Create(limited(t), spec)
			wantError(t, "Create", err, machine.ErrNoCapacity)
			tr.wantNone(t, spec.Identity)
		},
		"fields that the driver cannot use are refused": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			if tr.info.Capabilities.Guests {
				spec.Command = []string{"/bin/true"}
			} else {
				spec.Disks = []machine.Disk{{Name: "data", SizeBytes: 1 << 20}}
			}
			tr.removeAtEnd(t, spec.Identity)
			// A machine that is replaced is removed between Prepare and Create.
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrUnsupported)
			_, err := tr.Driver.Create(limited(t), spec)
			wantError(t, "Create", err, machine.ErrUnsupported)
			tr.wantNone(t, spec.Identity)
		},
	}
}
