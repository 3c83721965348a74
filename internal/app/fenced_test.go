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

func closedFence() *fence.Fence { return fence.New(leaseDuration, time.Second, 0, time.Now) }
