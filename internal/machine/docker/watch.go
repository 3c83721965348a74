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
	asking, cancelAsking := bound(ctx, callLimit)
	defer cancelAsking()
	// The engine answers before it listens: what happens in between is in its memory, which it reads back from a time on. Its own,
	// because clocks differ.
	info, err := d.api.Info(asking, client.InfoOptions{})
	if err != nil {
		return nil, explain(asking, "watch events", err)
	}
	watching, cancel := context.WithCancel(ctx)
	filters := within(installation).Add("type", string(events.ContainerEventType)).Add("event",
		string(events.ActionCreate), string(events.ActionStart), string(events.ActionPause), string(events.ActionUnPause),
		string(events.ActionOOM), string(events.ActionDie), string(events.ActionUpdate), string(events.ActionRename),
		string(events.ActionDestroy))
	heard := d.api.Events(watching, client.EventsListOptions{Since: info.Info.SystemTime, Filters: filters})
	out := make(chan machine.Event)
	go func() {
		defer cancel()
		defer close(out)
		d.pass(watching, heard, out)
	}()
	return out, nil
}

// pass hands events on until there are no more. An engine must not be kept waiting by a reader who is slow, so what was not yet read is
// kept, once for each machine.
func (d *driver) pass(ctx context.Context, heard client.EventsResult, out chan<- machine.Event) {
	var queue []machine.Event
	queued := map[string]bool{}
	for {
		var next machine.Event
		var ready chan<- machine.Event
		if len(queue) > 0 {
			next, ready = queue[0], out
		}
		select {
		case message := <-heard.Messages:
			id := identityOf(message.Actor.Attributes)
			if id.UID != "" && !queued[id.UID] {
				queued[id.UID] = true
				queue = append(queue, machine.Event{UID: id.UID, Namespace: id.Namespace, Name: id.Name})
			}
		case ready <- next:
			delete(queued, next.UID)
			queue = queue[1:]
		case err := <-heard.Err:
			_ = err // Whatever it was, the caller looks at everything once and watches again.
			return
		case <-d.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
