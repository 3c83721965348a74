// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// patience is how long a case waits for one call, and by default for a condition to become true, on the slowest host.
const patience = 2 * time.Minute

// trial is one running case: the subject, and an installation that no other case shares.
type trial struct {
	Subject

	info         machine.Info
	installation string
}

// cases are the promises of a driver, by sentence.
type cases map[string]func(t *testing.T, tr *trial)

// Run tests that the driver keeps the contract of package machine. Cases run in parallel. Each has an installation of its own, whose
// machines it removes.
func Run(t *testing.T, subject Subject) {
	t.Helper()
	subject.ShortGrace = cmp.Or(subject.ShortGrace, time.Second)
	subject.Patience = cmp.Or(subject.Patience, patience)
	t.Cleanup(func() {
		if err := subject.Driver.Close(); err != nil {
			t.Errorf("cannot close the driver: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	info, err := subject.Driver.Info(ctx)
	if err != nil {
		t.Fatalf("cannot read the host's info: %v", err)
	}
	t.Run("host", func(t *testing.T) { checkInfo(t, info) })

	topics := map[string]cases{
		"create":  creating(),
		"image":   fetching(),
		"power":   powering(),
		"outside": interfering(),
		"resize":  resizing(),
		"delete":  deleting(),
		"list":    listing(),
		"stats":   measuring(),
		"watch":   watching(),
		"context": cancelling(),
		"crowd":   crowding(),
	}
	t.Run("while the host answers", func(t *testing.T) {
		for topic, table := range topics {
			for sentence, run := range table {
				t.Run(topic+"/"+sentence, func(t *testing.T) {
					t.Parallel()
					run(t, newTrial(subject, info))
				})
			}
		}
	})
	// No other case can use the host while it is away.
	for sentence, run := range departing() {
		t.Run("away/"+sentence, func(t *testing.T) { run(t, newTrial(subject, info)) })
	}
}

func newTrial(subject Subject, info machine.Info) *trial {
	return &trial{Subject: subject, info: info, installation: newUUID()}
}

func checkInfo(t *testing.T, info machine.Info) {
	t.Helper()
	if info.Driver == "" || info.Version == "" {
		t.Errorf("the host has driver %q and version %q, want both set", info.Driver, info.Version)
	}
	if info.Capacity.MilliCPU <= 0 || info.Capacity.MemoryBytes <= 0 {
		t.Errorf("the host reports no capacity: %+v", info.Capacity)
	}
	if info.Capabilities.Containers == info.Capabilities.Guests {
		t.Errorf("the host must run either containers or guests, and reports %+v", info.Capabilities)
	}
}

// newUUID returns a random UUID like those of Kubernetes.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// identity returns a new identity with a name that no other case uses.
func (tr *trial) identity() machine.Identity {
	uid := newUUID()
	return machine.Identity{Installation: tr.installation, UID: uid, Namespace: "contract", Name: "vm-" + uid[:8]}
}

// spec returns a spec with a new identity.
func (tr *trial) spec() machine.Spec { return tr.Spec(tr.identity()) }

// created returns the spec of a machine that exists and has never run.
func (tr *trial) created(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.spec()
	tr.create(t, spec)
	return spec
}

// running returns the spec of a machine that runs.
func (tr *trial) running(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.created(t)
	tr.start(t, spec.Identity)
	return spec
}

// stopped returns the spec of a machine that has run and is off.
func (tr *trial) stopped(t *testing.T) machine.Spec {
	t.Helper()
	spec := tr.running(t)
	tr.stop(t, spec.Identity)
	return spec
}

// create fetches the image and makes the machine, which is deleted when the case ends.
func (tr *trial) create(t *testing.T, spec machine.Spec) machine.Observed {
	t.Helper()
	tr.removeAtEnd(t, spec.Identity)
	ctx := limited(t)
	if err := tr.Driver.Prepare(ctx, spec); err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	observed, err := tr.Driver.Create(ctx, spec)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return observed
}

func (tr *trial) start(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := tr.Driver.Start(limited(t), id); err != nil {
		t.Fatalf("Start: %v", err)
	}
	tr.awaitState(t, id, machine.StateRunning)
}

func (tr *trial) stop(t *testing.T, id machine.Identity) {
	t.Helper()
	if err := tr.Driver.Stop(limited(t), id, pullThePlug()); err != nil {
		t.Fatalf("Stop: %v", err)
	}
	tr.wantState(t, id, machine.StateStopped)
}

func (tr *trial) get(t *testing.T, id machine.Identity) machine.Observed {
	t.Helper()
	observed, err := tr.Driver.Get(limited(t), id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return observed
}

// removeAtEnd deletes the machine when the case ends, whatever its state.
func (tr *trial) removeAtEnd(t *testing.T, id machine.Identity) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := tr.Driver.Delete(ctx, id, pullThePlug()); err != nil {
			t.Errorf("cannot delete machine %q after the case: %v", id.UID, err)
		}
	})
}

func pullThePlug() machine.PowerOff { return machine.PowerOff{Mode: machine.Hard} }

// limited returns a context that bounds one call.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
