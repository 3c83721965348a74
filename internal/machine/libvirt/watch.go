// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Watch implements machine.Driver. Every watch has its own connection and closes it at its end: the library cannot end one of several subscriptions
// safely.
func (d *driver) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, explain(ctx, "watch events", err)
	}
	s, err := d.endpoint.dial(ctx)
	if err != nil {
		return nil, explain(ctx, "watch events", err)
	}
	w := &watcher{session: s, installation: installation}
	// The subscription must not end before the connection does.
	subscription := context.WithoutCancel(ctx)
	heard, err := ask(ctx, s, func(api *libvirt.Libvirt) (<-chan libvirt.DomainEventLifecycleMsg, error) {
		return api.LifecycleEvents(subscription)
	})
	if err == nil {
		w.known, err = w.learn(ctx)
	}
	if err != nil {
		s.close()
		return nil, explain(ctx, "watch events", err)
	}
	queue := machine.NewEventQueue()
	go w.translate(ctx, heard, queue)
	lasting, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		defer s.close()
		select {
		case <-s.wire.gone:
		case <-d.closed:
		case <-ctx.Done():
		}
	}()
	return queue.Deliver(lasting), nil
}

// watcher turns libvirt's events about domains into events about machines.
type watcher struct {
	session      *session
	installation string
	// known are the machines of the installation: the metadata of a domain that is gone cannot be read.
	known map[libvirt.UUID]machine.Event
}

// learn reads the existing domains. One that hangs is known after its first event that libvirt can explain.
func (w *watcher) learn(ctx context.Context) (map[libvirt.UUID]machine.Event, error) {
	const all = libvirt.ConnectListDomainsActive | libvirt.ConnectListDomainsInactive
	domains, err := ask(ctx, w.session, func(api *libvirt.Libvirt) ([]libvirt.Domain, error) {
		domains, _, err := api.ConnectListAllDomains(1, all)
		return domains, err
	})
	if err != nil {
		return nil, err
	}
	known := map[libvirt.UUID]machine.Event{}
	for _, dom := range domains {
		met, err := w.meet(ctx, dom)
		if err != nil {
			return nil, err
		}
		if met.ours {
			known[dom.UUID] = met.event
		}
	}
	return known, nil
}

// meeting is what a domain is: whether it still exists, and whether it is a machine of the installation. Of one that is late, nothing is known.
type meeting struct {
	there, ours, late bool
	event             machine.Event
}

// meet reads which machine a domain is. One that hangs must not hold up the events of others: it is waited for briefly, and not again before it has
// answered.
func (w *watcher) meet(ctx context.Context, dom libvirt.Domain) (meeting, error) {
	if w.session.looksAt(dom.UUID) {
		return meeting{late: true}, nil
	}
	met, late, err := machine.Briefly(ctx, func(ctx context.Context) (meeting, error) {
		leave, err := w.session.enter(ctx, dom.UUID)
		if err != nil {
			return meeting{}, err
		}
		return ask(ctx, w.session, func(api *libvirt.Libvirt) (meeting, error) {
			defer leave()
			return w.identify(api, dom)
		})
	})
	if late {
		return meeting{late: true}, nil
	}
	return met, err
}

// identify reads it in one call.
func (w *watcher) identify(api *libvirt.Libvirt, dom libvirt.Domain) (meeting, error) {
	text, err := api.DomainGetXMLDesc(dom, 0)
	if is(err, libvirt.ErrNoDomain) {
		return meeting{}, nil
	}
	if err != nil {
		return meeting{}, err
	}
	f, err := describe(text)
	if err != nil {
		return meeting{}, err
	}
	r := f.Metadata.Record
	return meeting{
		there: true, ours: r.ours(f.UUID) && r.Installation == w.installation,
		event: machine.Event{UID: r.UID, Namespace: r.Namespace, Name: r.Name},
	}, nil
}

// translate queues the events of machines of the installation until the connection ends. It never stops reading before: the library
// keeps unread events without a bound.
func (w *watcher) translate(ctx context.Context, heard <-chan libvirt.DomainEventLifecycleMsg, queue *machine.EventQueue) {
	defer queue.End()
	for message := range heard {
		met, err := w.meet(ctx, message.Dom)
		if err != nil {
			w.session.close()
			continue
		}
		event, ours := w.known[message.Dom.UUID]
		switch {
		case met.late: // It is most likely what it was.
		case !met.there:
			delete(w.known, message.Dom.UUID)
		case met.ours:
			event, ours = met.event, true
			w.known[message.Dom.UUID] = event
		default:
			ours = false
		}
		if ours {
			queue.Add(event)
		}
	}
}
