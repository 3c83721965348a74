// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// patience is how long a case waits for one call, and by default for a condition to become true, on the slowest host.
const patience = 2 * time.Minute

// needs skips the case if the subject lacks a capability.
func (*trial) needs(t *testing.T, can bool, sentence string) {
	t.Helper()
	if !can {
		t.Skip(sentence)
	}
}

func (tr *trial) get(t *testing.T, id machine.Identity) machine.Observed {
	t.Helper()
	observed, err := tr.Driver.Get(limited(t), id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return observed
}

func pullThePlug() machine.PowerOff { return machine.PowerOff{Mode: machine.Hard} }

// limited returns a context that bounds one call.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
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

// eventually waits until the check holds.
func (tr *trial) eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tr.Patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up waiting until %s", what)
		case <-tick.C:
		}
	}
}

// wantError fails unless the error is of one of the kinds.
func wantError(t *testing.T, call string, err error, kinds ...error) {
	t.Helper()
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("%s returned %v, want an error that is one of %v", call, err, kinds)
}

func wantSuccess(t *testing.T, call string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", call, err)
	}
}

// awaitState waits until the machine is in the state. Hosts observe the end of a process a moment late.
func (tr *trial) awaitState(t *testing.T, id machine.Identity, want machine.State) machine.Observed {
	t.Helper()
	var observed machine.Observed
	tr.eventually(t, "the machine is "+string(want), func() bool {
		observed = tr.get(t, id)
		return observed.State == want
	})
	return observed
}

// wantState checks that the machine is in the state now.
func (tr *trial) wantState(t *testing.T, id machine.Identity, want machine.State) {
	t.Helper()
	if observed := tr.get(t, id); observed.State != want {
		t.Errorf("the machine is %s, want %s", observed.State, want)
	}
}

// wantNone checks that neither Get nor List has the machine.
func (tr *trial) wantNone(t *testing.T, id machine.Identity) {
	t.Helper()
	_, err := tr.Driver.Get(limited(t), id)
	wantError(t, "Get of a machine that does not exist", err, machine.ErrNotFound)
	list, err := tr.Driver.List(limited(t), id.Installation)
	wantSuccess(t, "List", err)
	for _, observed := range list {
		if observed.UID == id.UID {
			t.Errorf("List has %+v, which does not exist", observed)
		}
	}
}

// wantSame checks that the machine is still the same, and not a new one in its place.
func (tr *trial) wantSame(t *testing.T, before machine.Observed) machine.Observed {
	t.Helper()
	now := tr.get(t, before.Identity)
	if now.ID != before.ID || now.NativeName != before.NativeName || !now.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("the machine was replaced: it was %+v and is %+v", before, now)
	}
	return now
}
