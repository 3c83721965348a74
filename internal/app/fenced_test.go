// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"io"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
	"github.com/windlass-operator/windlass/internal/provision"
)

// The fence of these tests is closed, and the driver behind it is nil: a call that gets through panics.
func TestDriversChangeNothingBehindAClosedFence(t *testing.T) {
	t.Parallel()
	opened, err := fencedOpener(func(context.Context, machine.Host) (machine.Driver, error) { return nil, nil },
		closedFence())(t.Context(), machine.Host{})
	if err != nil {
		t.Fatal(err)
	}
	_, created := opened.Create(t.Context(), machine.Spec{})
	_, typed := opened.Console(t.Context(), machine.Identity{})
	for call, err := range map[string]error{
		"console": typed,
		"prepare": opened.Prepare(t.Context(), machine.Spec{}),
		"create":  created,
		"start":   opened.Start(t.Context(), machine.Identity{}),
		"stop":    opened.Stop(t.Context(), machine.Identity{}, machine.PowerOff{}),
		"resize":  opened.Resize(t.Context(), machine.Identity{}, machine.Resources{}),
		"delete":  opened.Delete(t.Context(), machine.Identity{}, machine.PowerOff{}),
	} {
		if err == nil {
			t.Errorf("%s passed", call)
		}
	}
}

// aLock is the lock of an election that another instance can take.
type aLock struct {
	resourcelock.Interface

	holder string
}

func (*aLock) Identity() string { return "me" }

func (l *aLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: l.holder}, nil, nil
}

func (l *aLock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.holder = record.HolderIdentity
	return nil
}

// TestConsolesEndBehindAClosedFence opens a console, gives the lease back, and has another instance take it.
func TestConsolesEndBehindAClosedFence(t *testing.T) {
	t.Parallel()
	leading, lock := closedFence(), &aLock{}
	election := leading.Guard(lock)
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	succeed(t, election.Update(t.Context(), mine))
	driver, err := fencedOpener(func(context.Context, machine.Host) (machine.Driver, error) {
		return simulated.NewHost(simulated.Script{}).Open(), nil
	}, leading)(t.Context(), machine.Host{})
	succeed(t, err)
	id := machine.Identity{Installation: "here", UID: "uid", Namespace: "ns", Name: "vm"}
	spec := machine.Spec{Identity: id, Image: machine.Image{Name: "os"}}
	succeed(t, driver.Prepare(t.Context(), spec))
	_, err = driver.Create(t.Context(), spec)
	succeed(t, err)
	succeed(t, driver.Start(t.Context(), id))
	at, err := driver.Console(t.Context(), id)
	succeed(t, err)
	_, err = io.WriteString(at, "hello")
	succeed(t, err)

	succeed(t, election.Update(t.Context(), resourcelock.LeaderElectionRecord{}))
	if n, err := io.WriteString(at, "rm"); err == nil || n > 0 {
		t.Errorf("without the lease %d bytes are typed: %v", n, err)
	}
	succeed(t, election.Update(t.Context(), mine))
	_, err = io.WriteString(at, ", world")
	succeed(t, err)

	lock.holder = "another"
	_, _, err = election.Get(t.Context())
	succeed(t, err)
	if said, err := io.ReadAll(at); err == nil || string(said) != "hello, world" {
		t.Errorf("it ends with %v after %q", err, said)
	}
	succeed(t, at.Close())
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestToolsAreNotStartedBehindAClosedFence(t *testing.T) {
	t.Parallel()
	fenced := &fencedProvisioner{fence: closedFence()}
	for call, do := range map[string]func() error{
		"start":  func() error { return fenced.Start(t.Context(), provision.Request{}) },
		"cancel": func() error { return fenced.Cancel(t.Context(), "c") },
		"forget": func() error { return fenced.Forget(t.Context(), "c") },
	} {
		if err := do(); err == nil {
			t.Errorf("%s passed", call)
		}
	}
}

// slow is a provisioner whose start waits for something, as for the start of another Cluster, before it calls what the request wants to be called.
type slow struct {
	provision.Provisioner

	wait    func()
	started bool
}

// Start implements provision.Provisioner. Nothing else is called.
func (s *slow) Start(ctx context.Context, request provision.Request) error {
	s.wait()
	if err := request.CallBefore(ctx); err != nil {
		return err
	}
	s.started = true
	return nil
}

// TestAToolStartsAfterTheLease is about a start that had to wait: the fence was asked once, before.
func TestAToolStartsAfterTheLease(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// waiting and storing say that the lease ends while the start waits, or while the state is stored. bare is a request without anything to call.
		waiting, storing, bare bool
		stored, started        bool
	}{
		"it lasts": {stored: true, started: true},
		"it lasts, and there is nothing to store":     {bare: true, started: true},
		"it ends while the start waits":               {waiting: true},
		"it ends, and there is nothing to store":      {waiting: true, bare: true},
		"it ends while what the tool needs is stored": {storing: true, stored: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			leading := fence.New(leaseDuration, time.Second, 0, func() time.Time { return now })
			end := func(it bool) {
				if it {
					now = now.Add(time.Hour)
				}
			}
			succeed(t, leading.Guard(&aLock{}).Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}))
			stored, request := false, provision.Request{}
			if !test.bare {
				request.Before = func(context.Context) error { stored = true; end(test.storing); return nil }
			}
			below := &slow{wait: func() { end(test.waiting) }}
			err := (&fencedProvisioner{Provisioner: below, fence: leading}).Start(t.Context(), request)
			if stored != test.stored || below.started != test.started || (err == nil) != test.started {
				t.Errorf("stored: %t, started: %t, %v; want %t, %t", stored, below.started, err, test.stored, test.started)
			}
		})
	}
}

func closedFence() *fence.Fence { return fence.New(leaseDuration, time.Second, 0, time.Now) }
