// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// The numbers of the calls that remove a machine, in libvirt's protocol.
const (
	procedureDeleteVolume = 94
	procedureUndefine     = 231
	procedureDestroy      = 234
)

// procedureKeep is the number of the call that writes a record.
const procedureKeep = 264

// A start that had outlived its instance came while the machine was being deleted: its guest ran on without a definition, and without its disks.
func TestDeletedMachineThatIsStartedMeanwhileIsGone(t *testing.T) {
	t.Parallel()
	daemon := libvirttest.Start(t)
	api := daemon.Dial(t, mock)
	makeImages(t, api)
	way := libvirttest.NewProxy(t, daemon)
	driver := open(t, libvirttest.HostAt(way.Socket(), mock, mockPool))
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	spec := specOf(identity())
	before := volumes(t, api)
	for name, test := range map[string]struct {
		procedure uint32
		how       machine.PowerOff
		want      error
	}{
		"when it has just been stopped": {procedureDestroy, machine.PowerOff{Mode: machine.Hard}, nil},
		"before its first disk goes":    {procedureDeleteVolume, machine.PowerOff{Mode: machine.Hard}, nil},
		"before its domain goes":        {procedureUndefine, machine.PowerOff{Mode: machine.TrySoft, Grace: bootPatience}, nil},
		"and its guest has to be asked": {procedureUndefine, machine.PowerOff{Mode: machine.Soft, Grace: bootPatience}, machine.ErrBusy},
	} {
		create(t, driver, spec)
		delay, dom := way.HoldCall, domainOf(t, api, spec.Identity)
		if test.procedure == procedureDestroy { // whose answer says that it has been stopped
			wantSuccess(t, "Start", driver.Start(t.Context(), spec.Identity))
			delay = way.Hold
		}
		held, release := delay(test.procedure)
		started := make(chan error, 1)
		go func() {
			defer release()
			<-held
			_, err := api.DomainCreateWithFlags(dom, 0)
			started <- err
		}()
		err := driver.Delete(t.Context(), spec.Identity, test.how)
		wantSuccess(t, "DomainCreate", <-started)
		wantError(t, name+": Delete", err, test.want)
		if test.want != nil {
			wantSuccess(t, name+": Delete once more", driver.Delete(t.Context(), spec.Identity, test.how))
		}
		if left, err := driver.Get(t.Context(), spec.Identity); !errors.Is(err, machine.ErrNotFound) {
			t.Fatalf("%s: the machine is %+v, %v, want it to be gone", name, left, err)
		}
		if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
			t.Errorf("%s: volumes (-before +after):\n%s", name, diff)
		}
	}
}

// A manager was upgraded between the record of a start and the start. The machine had never run, and counted as one that had ended by itself: with
// runStrategy Once it was never started.
func TestStartThatIsCancelledLeavesNoRecordOfARun(t *testing.T) {
	t.Parallel()
	way, host, _ := newSlowMock(t)
	driver := open(t, host)
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	create(t, driver, specOf(identity()))
	held, release := way.HoldCall(procedureKeep)
	defer release()
	started := interrupt(t, held, func(ctx context.Context) error { return driver.Start(ctx, identity()) })
	wantUnfinished(t, started)
	release()
	wantSuccess(t, "Start", <-started)
	observed, err := driver.Get(t.Context(), identity())
	wantSuccess(t, "Get", err)
	if observed.State != machine.StateRunning {
		t.Errorf("the machine is %s, want it to run, as its record says", observed.State)
	}
}
