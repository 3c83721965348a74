// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Watch implements machine.Driver.
func (d *driver) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	// The engine answers before it listens. What happens in between it remembers, and sends again from a given time on: its own
	// time, because clocks differ.
	info, err := d.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, explain(ctx, "watch events", err)
	}
	watching, cancel := context.WithCancel(ctx)
	filters := within(installation).Add("type", string(events.ContainerEventType)).Add("event",
		string(events.ActionCreate), string(events.ActionStart), string(events.ActionPause), string(events.ActionUnPause),
		string(events.ActionOOM), string(events.ActionDie), string(events.ActionUpdate), string(events.ActionRename),
		string(events.ActionDestroy))
	received := d.api.Events(watching, client.EventsListOptions{Since: info.Info.SystemTime, Filters: filters})
	queue := machine.NewEventQueue()
	go func() {
		defer cancel()
		d.receive(watching, received, queue)
	}()
	return queue.Deliver(watching), nil
}

// receive queues the engine's events until there are no more. An engine must not wait for a slow reader: it would drop events.
func (d *driver) receive(ctx context.Context, received client.EventsResult, queue *machine.EventQueue) {
	for {
		select {
		case message := <-received.Messages:
			if id := identityOf(message.Actor.Attributes); id.UID != "" {
				queue.Add(machine.Event{UID: id.UID, Namespace: id.Namespace, Name: id.Name})
			}
		case err := <-received.Err:
			_ = err // Whatever it was, the caller observes every machine once and watches again.
			return
		case <-d.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
