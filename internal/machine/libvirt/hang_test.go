// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
)

// procedureDescribe is the number of the call that describes a domain.
const procedureDescribe = 14

// newHanging returns a driver of a host with two machines that run. Nothing is ever answered about the first one's domain.
func newHanging(t *testing.T) (driver machine.Driver, hangs, other machine.Identity) {
	t.Helper()
	driver, hangs, other, _, hang := newPair(t)
	hang()
	return driver, hangs, other
}

// newPair returns such a driver before the first one's domain hangs. With suspend, that domain has an event.
func newPair(t *testing.T) (driver machine.Driver, hangs, other machine.Identity, suspend, hang func()) {
	t.Helper()
	way, host, api := newSlowMock(t)
	driver = open(t, host)
	t.Cleanup(func() { wantSuccess(t, "Close", driver.Close()) })
	hangs, other = identity(), identity()
	other.UID, other.Name = "0f9a63b2-2222-4222-8333-444455556666", "db"
	for _, id := range []machine.Identity{hangs, other} {
		create(t, driver, specOf(id))
		wantSuccess(t, "Start", driver.Start(t.Context(), id))
	}
	dom := domainOf(t, api, hangs)
	suspend = func() { wantSuccess(t, "Suspend", api.DomainSuspend(dom)) }
	return driver, hangs, other, suspend, func() { way.Swallow(procedureDescribe, dom.UUID[:]) }
}

// Each look at a domain that hung closed the connection, and with it the looks at all others: their machines were Unknown every few seconds.
func TestLookAtADomainThatHangsCutsOffOthers(t *testing.T) {
	t.Parallel()
	driver, hangs, other := newHanging(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 10 { // More than the calls that a daemon serves at a time.
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if _, err := driver.Get(ctx, hangs); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Get of the machine that hangs returned %v", err)
			}
			cancel()
		}
	}()
	for {
		if found, err := driver.Get(t.Context(), other); err != nil || found.State != machine.StateRunning {
			t.Fatalf("Get of the other machine returned %+v, %v", found, err)
		}
		select {
		case <-ended:
			return
		default:
		}
	}
}

// A domain that hung kept its host from every list and all counters: it got no machines, and none of its machines had usage.
func TestDomainThatHangsKeepsOthersFromBeingListed(t *testing.T) {
	t.Parallel()
	driver, hangs, other := newHanging(t)
	list, err := driver.List(t.Context(), identity().Installation)
	wantSuccess(t, "List", err)
	var got []string
	for _, one := range list {
		got = append(got, fmt.Sprintf("%s silent=%t", one.UID, one.Silent))
	}
	if diff := cmp.Diff([]string{hangs.UID + " silent=true", other.UID + " silent=false"}, got); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	samples, err := driver.Stats(t.Context(), identity().Installation)
	wantSuccess(t, "Stats", err)
	if diff := cmp.Diff([]string{other.UID}, slices.Collect(maps.Keys(samples))); diff != "" {
		t.Errorf("machines with counters (-want +got):\n%s", diff)
	}
}

// A host was not watched as long as one of its domains hung: another guest that crashed stayed off until the next sweep.
func TestDomainThatHangsKeepsItsHostFromBeingWatched(t *testing.T) {
	t.Parallel()
	driver, _, other := newHanging(t)
	events, err := driver.Watch(t.Context(), identity().Installation)
	wantSuccess(t, "Watch", err)
	wantSuccess(t, "Stop", driver.Stop(t.Context(), other, machine.PowerOff{Mode: machine.Hard}))
	wantHeard(t, events, other)
}

// An event about a domain that hung held up the events of all others.
func TestDomainThatHangsKeepsOthersFromBeingHeard(t *testing.T) {
	t.Parallel()
	driver, hangs, other, suspend, hang := newPair(t)
	events, err := driver.Watch(t.Context(), identity().Installation)
	wantSuccess(t, "Watch", err)
	hang()
	suspend()
	wantHeard(t, events, hangs)
	wantSuccess(t, "Stop", driver.Stop(t.Context(), other, machine.PowerOff{Mode: machine.Hard}))
	wantHeard(t, events, other)
}

// wantHeard waits for an event of the machine.
func wantHeard(t *testing.T, events <-chan machine.Event, id machine.Identity) {
	t.Helper()
	late := time.After(bootPatience)
	for {
		select {
		case event, ok := <-events:
			if !ok {
				t.Fatal("the watch has ended")
			}
			if event.UID == id.UID {
				return
			}
		case <-late:
			t.Fatalf("there was no event of machine %q", id.UID)
		}
	}
}

// Whether the guest of a domain that hung writes to an image was asked for as long as preparing may take, on the connection that starts and stops guests: each
// new machine left one more question without an answer there, of the few that a daemon serves.
func TestDomainThatHangsKeepsNewMachinesWaiting(t *testing.T) {
	t.Parallel()
	driver, hangs, other := newHanging(t)
	spec := newcomer()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const machines = 6 // More than the calls that a daemon serves at a time.
	ended := make(chan error, machines)
	for range machines {
		go func() { ended <- driver.Prepare(ctx, spec) }()
	}
	want := fmt.Sprintf("domain %q does not answer", "default-web-"+hangs.UID[:8])
	for range machines {
		if err := <-ended; !errors.Is(err, machine.ErrBusy) || !strings.Contains(err.Error(), want) {
			t.Errorf("Prepare returned %v, want: %s", err, want)
		}
	}
	wantSuccess(t, "Stop of the other machine", driver.Stop(ctx, other, machine.PowerOff{Mode: machine.Hard}))
}

// Creating a machine asked the same for a disk of another owner, and went on to do so when its caller had gone.
func TestDomainThatHangsKeepsAMachineFromBeingCreated(t *testing.T) {
	t.Parallel()
	driver, _, _, _, hang := newPair(t)
	spec := newcomer()
	wantSuccess(t, "Prepare", driver.Prepare(t.Context(), spec))
	hang()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := driver.Create(ctx, spec)
	wantError(t, "Create", err, machine.ErrBusy)
}

// A machine that names nothing of the host has nothing to ask.
func TestDomainThatHangsIsNotInTheWayOfOwnDisks(t *testing.T) {
	t.Parallel()
	driver, _, _ := newHanging(t)
	spec := newcomer()
	spec.Image, spec.Disks = machine.Image{}, spec.Disks[:1]
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	wantSuccess(t, "Prepare", driver.Prepare(ctx, spec))
	_, err := driver.Create(ctx, spec)
	wantSuccess(t, "Create", err)
}

// newcomer returns a third machine.
func newcomer() machine.Spec {
	id := identity()
	id.UID, id.Name = "0f9a63b2-3333-4333-8444-555566667777", "new"
	return specOf(id)
}
