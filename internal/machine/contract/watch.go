// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// watching: an event arrives for everything that happens to a machine of the installation.
func watching() cases {
	return cases{
		"every step of a life sends an event": func(t *testing.T, tr *trial) {
			events := tr.watch(t, tr.installation)
			spec := tr.spec()
			tr.create(t, spec)
			tr.hear(t, events, spec.Identity, "created")
			drain(events)
			tr.start(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "started")
			drain(events)
			tr.stop(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "stopped")
			drain(events)
			wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), spec.Identity, pullThePlug()))
			tr.hear(t, events, spec.Identity, "deleted")
		},
		"a machine that is killed sends an event": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Kill != nil, "the subject cannot kill machines")
			spec := tr.running(t)
			events := tr.watch(t, tr.installation)
			tr.Kill(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "killed")
		},
		"a machine that is removed sends an event": func(t *testing.T, tr *trial) {
			tr.needs(t, tr.Remove != nil, "the subject cannot remove machines")
			spec := tr.created(t)
			events := tr.watch(t, tr.installation)
			tr.Remove(t, spec.Identity)
			tr.hear(t, events, spec.Identity, "removed")
		},
		"other installations send no events": func(t *testing.T, tr *trial) {
			foreign, own := tr.identity(), tr.identity()
			foreign.Installation = newUUID()
			events := tr.watch(t, tr.installation)
			tr.create(t, tr.Spec(foreign))
			tr.create(t, tr.Spec(own))
			// Events arrive in order: the other one would have come first.
			first := tr.hear(t, events, own, "created")
			if first.UID == foreign.UID {
				t.Errorf("an event of another installation came: %+v", first)
			}
		},
		"a watch ends when its context does": func(t *testing.T, tr *trial) {
			ctx, cancel := context.WithCancel(t.Context())
			events, err := tr.Driver.Watch(ctx, tr.installation)
			if err != nil {
				t.Fatalf("Watch: %v", err)
			}
			cancel()
			tr.awaitEnd(t, events)
		},
		"a watcher that does not read delays nobody": func(t *testing.T, tr *trial) {
			tr.watch(t, tr.installation)
			for range 20 {
				spec := tr.created(t)
				wantSuccess(t, "Delete", tr.Driver.Delete(limited(t), spec.Identity, pullThePlug()))
			}
		},
	}
}

func (tr *trial) watch(t *testing.T, installation string) <-chan machine.Event {
	t.Helper()
	events, err := tr.Driver.Watch(t.Context(), installation)
	if err != nil {
		t.Fatalf("Watch: %v", err)
	}
	return events
}

// hear waits for an event of the machine, and returns the first event of any machine.
func (tr *trial) hear(t *testing.T, events <-chan machine.Event, id machine.Identity, what string) machine.Event {
	t.Helper()
	var first machine.Event
	deadline := time.After(tr.Patience)
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the watch ended before the event that machine %q was %s", id.UID, what)
			}
			if first == (machine.Event{}) {
				first = e
			}
			if e == (machine.Event{UID: id.UID, Namespace: id.Namespace, Name: id.Name}) {
				return first
			}
		case <-deadline:
			t.Fatalf("no event says that machine %q was %s", id.UID, what)
		}
	}
}

// drain drops the events that have arrived.
func drain(events <-chan machine.Event) {
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		default:
			return
		}
	}
}

// awaitEnd waits until the channel is closed.
func (tr *trial) awaitEnd(t *testing.T, events <-chan machine.Event) {
	t.Helper()
	deadline := time.After(tr.Patience)
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-deadline:
			t.Fatal("the watch does not end")
		}
	}
}
