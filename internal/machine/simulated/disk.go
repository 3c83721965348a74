// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"fmt"
	"slices"

	"github.com/windlass-operator/windlass/internal/machine"
)

// diskOf is the key of the root disk of a machine.
func diskOf(id machine.Identity) string { return id.Installation + "/" + id.UID }

// hasDisk reports whether the machine has a root disk that outlives it.
func (h *Host) hasDisk(spec machine.Spec) bool {
	return h.script.Disks && spec.Resources.RootDiskBytes > 0
}

// makeDisk makes the root disk of a machine if it is missing, and was not made before.
func (h *Host) makeDisk(spec machine.Spec) error {
	if !h.hasDisk(spec) || h.disks[diskOf(spec.Identity)] != 0 {
		return nil
	}
	if err := h.findDisk(spec); err != nil {
		return err
	}
	h.serial++
	h.disks[diskOf(spec.Identity)] = h.serial
	return nil
}

// findDisk refuses a machine whose root disk was made before and is gone.
func (h *Host) findDisk(spec machine.Spec) error {
	if h.hasDisk(spec) && h.disks[diskOf(spec.Identity)] == 0 && slices.Contains(spec.Kept, machine.RootDisk) {
		return fmt.Errorf("%w: disk %q was made before, and the simulated host does not have it", machine.ErrDiskLost, machine.RootDisk)
	}
	return nil
}

// TakeDisk takes the root disk of a machine away, like a pool that is lost, and returns a function that puts it back. Both do nothing
// for a machine without a disk.
func (h *Host) TakeDisk(id machine.Identity) (restore func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.disks[diskOf(id)]
	delete(h.disks, diskOf(id))
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if taken != 0 {
			h.disks[diskOf(id)] = taken
		}
	}
}

// Disk returns a number that each root disk has for itself; 0 without a root disk.
func (h *Host) Disk(id machine.Identity) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disks[diskOf(id)]
}
