// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// keeping: a disk that may hold data is never made again.
func keeping() cases {
	return cases{
		"a machine names the disks that were made for it": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.info.Capabilities.Disks, "the disks of the driver's machines end with them")
			spec := tr.spec()
			var want []string
			if spec.Resources.RootDiskBytes > 0 || tr.info.Capabilities.Guests && spec.Image.Name != "" {
				want = append(want, machine.RootDisk)
			}
			for _, disk := range spec.Disks {
				if disk.SizeBytes > 0 {
					want = append([]string{machine.DataDisk(disk.Name)}, want...)
				}
			}
			if diff := cmp.Diff(want, tr.create(t, spec).Disks); diff != "" {
				t.Errorf("Create returned other disks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, tr.get(t, spec.Identity).Disks); diff != "" {
				t.Errorf("Get returned other disks (-want +got):\n%s", diff)
			}
		},
		"no disks are named that end with their machine": func(t *testing.T, tr *trial) {
			tr.needs(t, !tr.info.Capabilities.Disks, "the disks of the driver's machines outlive them")
			if disks := tr.create(t, tr.spec()).Disks; len(disks) > 0 {
				t.Errorf("the machine has the disks %q", disks)
			}
		},
		"a machine that was removed gets its disks back": func(t *testing.T, tr *trial) {
			spec := tr.removed(t)
			created, err := tr.again(t, spec)
			wantSuccess(t, "making the machine again", err)
			if diff := cmp.Diff(spec.Kept, created.Disks); diff != "" {
				t.Errorf("the machine has other disks (-want +got):\n%s", diff)
			}
		},
		"a disk that was made before and is gone is not made again": func(t *testing.T, tr *trial) {
			spec := tr.removed(t)
			restore := tr.TakeDisks(t, spec.Identity)
			wantError(t, "Prepare", tr.Driver.Prepare(limited(t), spec), machine.ErrDiskLost)
			_, err := tr.Driver.Create(limited(t), spec)
			wantError(t, "Create", err, machine.ErrDiskLost)
			tr.wantNone(t, spec.Identity)
			restore(t)
			_, err = tr.again(t, spec)
			wantSuccess(t, "making the machine again with its disks", err)
		},
		"a disk that is gone is made again where that is wanted": func(t *testing.T, tr *trial) {
			spec := tr.removed(t)
			tr.TakeDisks(t, spec.Identity)
			spec.Kept = nil
			_, err := tr.again(t, spec)
			wantSuccess(t, "making the machine again", err)
		},
	}
}

// removed returns the spec of a machine that somebody has removed, and whose disks are there.
func (tr *trial) removed(t *testing.T) machine.Spec {
	t.Helper()
	tr.needs(t, tr.info.Capabilities.Disks, "the disks of the driver's machines end with them")
	tr.needs(t, tr.Remove != nil && tr.TakeDisks != nil, "the subject cannot remove machines and their disks")
	spec := tr.spec()
	spec.Kept = tr.create(t, spec).Disks
	tr.needs(t, len(spec.Kept) > 0, "the subject's machines have no disks")
	tr.Remove(t, spec.Identity)
	return spec
}

// again makes a machine that was made before.
func (tr *trial) again(t *testing.T, spec machine.Spec) (machine.Observed, error) {
	t.Helper()
	if err := tr.Driver.Prepare(limited(t), spec); err != nil {
		return machine.Observed{}, err
	}
	return tr.Driver.Create(limited(t), spec)
}
