// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	golibvirt "github.com/digitalocean/go-libvirt"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/libvirt"
	"github.com/windlass-operator/windlass/internal/machine/libvirt/libvirttest"
)

// The numbers of the calls that make a volume, and that copy one, in libvirt's protocol.
const (
	procedureMake = 93
	procedureCopy = 125
)

// newSlowMock returns a mock behind a proxy that can hold back its answers.
func newSlowMock(t *testing.T) (*libvirttest.Proxy, machine.Host, *golibvirt.Libvirt) {
	t.Helper()
	daemon := libvirttest.Start(t)
	api := daemon.Dial(t, mock)
	makeImages(t, api)
	way := libvirttest.NewProxy(t, daemon)
	return way, libvirttest.HostAt(way.Socket(), mock, mockPool), api
}

func TestCopySlowerThanTheCallBoundDoesNotMakeTheHostUnreachable(t *testing.T) {
	t.Parallel()
	const callBound = time.Second
	way, host, _ := newSlowMock(t)
	held, release := way.Hold(procedureCopy)
	defer release()
	hosts := fleet.New([]machine.Host{host}, fleet.Options{
		Installation: identity().Installation, Open: libvirt.Open, Limits: fleet.Limits{Call: callBound}, ProbeInterval: callBound / 10,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- hosts.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		wantSuccess(t, "Start of the fleet", <-ended)
	})
	await(t, "the host answers", func() bool { return hosts.Health(host.Name).Err == nil })
	driver, _ := hosts.Driver(host.Name)

	spec := specOf(identity())
	made := make(chan error, 1)
	go func() {
		err := driver.Prepare(ctx, spec)
		if err == nil {
			_, err = driver.Create(ctx, spec)
		}
		made <- err
	}()
	<-held
	select {
	case err := <-made:
		t.Fatalf("the machine was not waited for: %v", err)
	case <-time.After(2 * callBound): // Time has to pass: the bound is one in real time.
	}
	if health := hosts.Health(host.Name); health.Err != nil {
		t.Errorf("the host counts as unreachable: %v", health.Err)
	}
	release()
	wantSuccess(t, "the machine is made", <-made)
}

// interrupt begins something, cancels it as soon as the proxy holds what it waits for, and returns how it ends.
func interrupt(t *testing.T, held <-chan struct{}, do func(context.Context) error) <-chan error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	<-held
	cancel()
	return ended
}

// wantUnfinished fails if it has ended.
func wantUnfinished(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		t.Fatalf("it ended with %v while libvirt still had to work on it", err)
	case <-time.After(500 * time.Millisecond): // Time has to pass: it must not end.
	}
}

func TestCopyThatIsCancelledIsMadeAgain(t *testing.T) {
	t.Parallel()
	way, host, api := newSlowMock(t)
	driver := open(t, host)
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	before := volumes(t, api)
	held, release := way.Hold(procedureCopy)
	defer release()
	made := interrupt(t, held, func(ctx context.Context) error { return driver.Prepare(ctx, specOf(identity())) })
	wantError(t, "Prepare", <-made, context.Canceled)
	release()
	_, err := driver.Create(t.Context(), specOf(identity()))
	wantError(t, "Create on a disk that is not whole", err, machine.ErrImageNotFound)
	create(t, driver, specOf(identity()))
	wantSuccess(t, "Delete", driver.Delete(t.Context(), identity(), machine.PowerOff{Mode: machine.Hard}))
	if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
		t.Errorf("volumes (-before +after):\n%s", diff)
	}
}

// A marker was made after the disks of a deleted machine had been removed, because Prepare had returned at the cancellation. A call that the daemon
// has not begun with yet is waited for; a copy that it has begun is not, because the removal finds it.
func TestPrepareThatIsCancelledEndsBeforeItsDisksAreRemoved(t *testing.T) {
	t.Parallel()
	for name, procedure := range map[string]uint32{"a marker": procedureMake, "a copy": procedureCopy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way, host, api := newSlowMock(t)
			driver := open(t, host)
			defer func() { wantSuccess(t, "Close", driver.Close()) }()
			before := volumes(t, api)
			held, release := way.HoldCall(procedure)
			defer release()
			made := interrupt(t, held, func(ctx context.Context) error { return driver.Prepare(ctx, specOf(identity())) })
			wantUnfinished(t, made)
			release()
			if err := <-made; err != nil && !errors.Is(err, context.Canceled) { // a copy can be done before it is seen in a list
				t.Errorf("Prepare failed: %v", err)
			}
			wantSuccess(t, "Delete", driver.Delete(t.Context(), identity(), machine.PowerOff{Mode: machine.Hard}))
			if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
				t.Errorf("volumes (-before +after):\n%s", diff)
			}
		})
	}
}

// A domain was defined after its machine was deleted, because Create had returned at the cancellation.
func TestCreateThatIsCancelledEndsBeforeItsMachineIsDeleted(t *testing.T) {
	t.Parallel()
	way, host, api := newSlowMock(t)
	driver := open(t, host)
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	before, spec := volumes(t, api), specOf(identity())
	wantSuccess(t, "Prepare", driver.Prepare(t.Context(), spec))
	held, release := way.Hold(procedureDefine)
	defer release()
	made := interrupt(t, held, func(ctx context.Context) error {
		_, err := driver.Create(ctx, spec)
		return err
	})
	wantUnfinished(t, made)
	release()
	wantError(t, "Create", <-made, context.Canceled)
	wantSuccess(t, "Delete", driver.Delete(t.Context(), spec.Identity, machine.PowerOff{Mode: machine.Hard}))
	if diff := cmp.Diff(before, volumes(t, api)); diff != "" {
		t.Errorf("volumes (-before +after):\n%s", diff)
	}
}

func TestDisksOfAMachineThatCouldNotBeCreatedAreNotCopiedAgain(t *testing.T) {
	t.Parallel()
	way, host, api := newSlowMock(t)
	driver := open(t, host)
	defer func() { wantSuccess(t, "Close", driver.Close()) }()
	spec := specOf(identity())
	spec.Resources.MemoryBytes = 1 << 50
	wantSuccess(t, "Prepare", driver.Prepare(t.Context(), spec))
	_, err := driver.Create(t.Context(), spec)
	wantError(t, "Create", err, machine.ErrNoCapacity)
	made := volumes(t, api)
	held, release := way.Hold(procedureCopy)
	defer release()
	wantSuccess(t, "Prepare", driver.Prepare(t.Context(), spec))
	select {
	case <-held:
		t.Error("the image was copied a second time")
	default:
	}
	// No guest has used them, so that another size makes them anew.
	spec.Resources.RootDiskBytes *= 2
	release()
	wantSuccess(t, "Prepare with another size", driver.Prepare(t.Context(), spec))
	if now := volumes(t, api); len(now) != len(made) || cmp.Equal(made, now) {
		t.Errorf("the volumes were %v and are %v", made, now)
	}
}
