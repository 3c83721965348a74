// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"errors"
	"testing"

	golibvirt "github.com/digitalocean/go-libvirt"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

func TestWhatThePoolHasForADisk(t *testing.T) {
	t.Parallel()
	type verdict struct {
		Used, Attached string
		Leftovers      []string
		Finished       bool
		Ambiguous      bool
	}
	root, seed := guestDisk{role: roleRoot}, guestDisk{role: roleSeed, content: []byte{1}}
	for name, test := range map[string]struct {
		disk  guestDisk
		names []string
		want  verdict
	}{
		"nothing":                           {disk: root},
		"a disk of another role":            {disk: root, names: []string{"p-disk-root"}},
		"a disk without a marker is used":   {disk: root, names: []string{"p-root"}, want: verdict{Used: "p-root", Attached: "p-root"}},
		"the format is in the name":         {disk: root, names: []string{"p-root.qcow2"}, want: verdict{Used: "p-root.qcow2", Attached: "p-root.qcow2"}},
		"two disks without a marker":        {disk: root, names: []string{"p-root", "p-root.qcow2"}, want: verdict{Ambiguous: true}},
		"a disk that is not whole":          {disk: root, names: []string{"p-root", "p-root.making"}, want: verdict{Leftovers: []string{"p-root"}}},
		"a marker that came before a disk":  {disk: root, names: []string{"p-root.making"}, want: verdict{Leftovers: []string{"p-root"}}},
		"a marker that survived a disk":     {disk: root, names: []string{"p-root.new-tag"}, want: verdict{Leftovers: []string{"p-root"}}},
		"a crash before the last marker":    {disk: root, names: []string{"p-root", "p-root.making", "p-root.new-tag"}, want: verdict{Leftovers: []string{"p-root"}}},
		"a whole disk that nobody has used": {disk: root, names: []string{"p-root", "p-root.new-tag"}, want: verdict{Attached: "p-root", Leftovers: []string{"p-root"}, Finished: true}},
		"a whole disk of another source":    {disk: root, names: []string{"p-root", "p-root.new-other"}, want: verdict{Attached: "p-root", Leftovers: []string{"p-root"}}},
		"a used disk and an unfinished one": {
			disk: root, names: []string{"p-root", "p-root.qcow2", "p-root.qcow2.making"},
			want: verdict{Used: "p-root", Attached: "p-root", Leftovers: []string{"p-root.qcow2"}},
		},
		"a used disk and one that nobody has used": {
			disk: root, names: []string{"p-root", "p-root.new-tag", "p-root.qcow2"},
			want: verdict{Used: "p-root.qcow2", Attached: "p-root.qcow2", Leftovers: []string{"p-root"}, Finished: true},
		},
		"a seed is never used": {disk: seed, names: []string{"p-seed"}, want: verdict{Attached: "p-seed", Leftovers: []string{"p-seed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := inventory{prefix: "p-", names: test.names}
			var got verdict
			var err error
			got.Used, err = i.used(test.disk)
			got.Ambiguous = errors.Is(err, machine.ErrDiskMismatch)
			attached, err := i.attach(golibvirt.StoragePool{Name: "default"}, test.disk)
			if got.Attached = attached.volume; (err == nil) != (attached.volume != "") || got.Ambiguous != errors.Is(err, machine.ErrDiskMismatch) {
				t.Errorf("attached %+v, %v", attached, err)
			}
			got.Leftovers, got.Finished = i.leftovers(test.disk), i.isFinished("p-root", "tag")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
