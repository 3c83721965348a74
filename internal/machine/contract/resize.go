// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// resizing: live if the driver has the capability, else while the machine is off, and never silently.
func resizing() cases {
	moreCPU := func(r machine.Resources) machine.Resources { r.MilliCPU *= 2; return r }
	moreMemory := func(r machine.Resources) machine.Resources { r.MemoryBytes *= 2; return r }
	moreDisk := func(r machine.Resources) machine.Resources { r.RootDiskBytes *= 2; return r }
	return cases{
		"CPU grows and shrinks while the machine runs": func(t *testing.T, tr *trial) {
			tr.resizeRunning(t, moreCPU, tr.info.Capabilities.LiveCPU)
		},
		"memory grows and shrinks while the machine runs": func(t *testing.T, tr *trial) {
			tr.resizeRunning(t, moreMemory, tr.info.Capabilities.LiveMemory)
		},
		"a root disk grows while the machine runs": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.info.Capabilities.RootDisk, "the machines of the driver have no root disk that can grow")
			spec := tr.running(t)
			err := tr.Driver.Resize(limited(t), spec.Identity, moreDisk(spec.Resources))
			if !tr.info.Capabilities.LiveRootDisk {
				wantError(t, "Resize of a running machine", err, machine.ErrRestartRequired)
				tr.wantRootDisk(t, spec.Identity, spec.Resources)
				return
			}
			wantSuccess(t, "Resize", err)
			tr.wantRootDisk(t, spec.Identity, moreDisk(spec.Resources))
			tr.wantState(t, spec.Identity, machine.StateRunning)
		},
		"a root disk grows while the machine is off": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.info.Capabilities.RootDisk, "the machines of the driver have no root disk that can grow")
			spec := tr.stopped(t)
			wantSuccess(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, moreDisk(spec.Resources)))
			tr.wantRootDisk(t, spec.Identity, moreDisk(spec.Resources))
			tr.wantState(t, spec.Identity, machine.StateStopped)
		},
		"a root disk never becomes smaller": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.info.Capabilities.RootDisk, "the machines of the driver have no root disk that can grow")
			spec := tr.stopped(t)
			to := moreMemory(spec.Resources)
			to.RootDiskBytes /= 2
			wantError(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, to), machine.ErrInvalid)
			tr.wantRootDisk(t, spec.Identity, spec.Resources)
			tr.wantSize(t, spec.Identity, spec.Resources)
		},
		"a resize that asks for no root disk leaves it as it is": func(t *testing.T, tr *trial) {
			spec := tr.stopped(t)
			to := moreMemory(spec.Resources)
			to.RootDiskBytes = 0
			wantSuccess(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, to))
			tr.wantRootDisk(t, spec.Identity, spec.Resources)
			tr.wantSize(t, spec.Identity, to)
		},
		"a root disk that cannot grow is refused and changes nothing": func(t *testing.T, tr *trial) {
			tr.needs(t, !tr.info.Capabilities.RootDisk, "the machines of the driver have a root disk that can grow")
			spec := tr.stopped(t)
			to := moreMemory(spec.Resources)
			to.RootDiskBytes = 2*to.RootDiskBytes + 1<<30
			wantError(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, to), machine.ErrUnsupported)
			tr.wantRootDisk(t, spec.Identity, spec.Resources)
			tr.wantSize(t, spec.Identity, spec.Resources)
		},
		"a machine that has never run is resized": func(t *testing.T, tr *trial) {
			tr.resizeOff(t, tr.created(t))
		},
		"a machine that is off is resized, and starts with the new size": func(t *testing.T, tr *trial) {
			spec := tr.stopped(t)
			to := tr.resizeOff(t, spec)
			tr.start(t, spec.Identity)
			tr.wantSize(t, spec.Identity, to)
		},
		"resizing to the current size does nothing": func(t *testing.T, tr *trial) {
			spec := tr.running(t)
			before := tr.get(t, spec.Identity)
			wantSuccess(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, spec.Resources))
			if diff := cmp.Diff(before, tr.get(t, spec.Identity)); diff != "" {
				t.Errorf("it changed (-before +after):\n%s", diff)
			}
		},
		"more CPU than the host has is refused and changes nothing": func(t *testing.T, tr *trial) {
			spec := tr.stopped(t)
			to := spec.Resources
			to.MilliCPU = 2*tr.info.Capacity.MilliCPU + 1000
			wantError(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, to), machine.ErrNoCapacity)
			tr.wantSize(t, spec.Identity, spec.Resources)
		},
		"a machine that does not exist is not resized": func(t *testing.T, tr *trial) {
			spec := tr.spec()
			wantError(t, "Resize", tr.Driver.Resize(limited(t), spec.Identity, spec.Resources), machine.ErrNotFound)
		},
	}
}

// resizeRunning grows a running machine and shrinks it again if the driver can do that live. Otherwise it expects ErrRestartRequired.
func (tr *trial) resizeRunning(t *testing.T, more func(machine.Resources) machine.Resources, live bool) {
	t.Helper()
	spec := tr.running(t)
	before := tr.get(t, spec.Identity)
	err := tr.Driver.Resize(limited(t), spec.Identity, more(spec.Resources))
	if !live {
		wantError(t, "Resize of a running machine", err, machine.ErrRestartRequired)
		tr.wantState(t, spec.Identity, machine.StateRunning)
		return
	}
	wantSuccess(t, "Resize to twice the size", err)
	tr.wantSize(t, spec.Identity, more(spec.Resources))
	wantSuccess(t, "Resize back", tr.Driver.Resize(limited(t), spec.Identity, spec.Resources))
	tr.wantSize(t, spec.Identity, spec.Resources)
	now := tr.wantSame(t, before)
	if now.State != machine.StateRunning || !now.StartedAt.Equal(before.StartedAt) {
		t.Errorf("the machine was restarted: it was %+v and is %+v", before, now)
	}
}

// resizeOff doubles a machine that is off.
func (tr *trial) resizeOff(t *testing.T, spec machine.Spec) machine.Resources {
	t.Helper()
	to := spec.Resources
	to.MilliCPU, to.MemoryBytes = 2*to.MilliCPU, 2*to.MemoryBytes
	before := tr.get(t, spec.Identity)
	wantSuccess(t, "Resize of a machine that is off", tr.Driver.Resize(limited(t), spec.Identity, to))
	tr.wantSize(t, spec.Identity, to)
	if now := tr.wantSame(t, before); now.State != before.State {
		t.Errorf("the machine was %s and is %s", before.State, now.State)
	}
	return to
}

// wantSize compares CPU and memory, which every driver supports.
func (tr *trial) wantSize(t *testing.T, id machine.Identity, want machine.Resources) {
	t.Helper()
	got := tr.get(t, id).Resources
	if got.MilliCPU != want.MilliCPU || got.MemoryBytes != want.MemoryBytes {
		t.Errorf("the machine has %+v, want %+v", got, want)
	}
}

// wantRootDisk compares the root disk, which not every driver has.
func (tr *trial) wantRootDisk(t *testing.T, id machine.Identity, want machine.Resources) {
	t.Helper()
	if got := tr.get(t, id).Resources.RootDiskBytes; got != want.RootDiskBytes {
		t.Errorf("the root disk has %d bytes, want %d", got, want.RootDiskBytes)
	}
}
