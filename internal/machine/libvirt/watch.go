// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Watch implements machine.Driver. Every watch has a connection of its own, and ends it when it ends: the library cannot take back one of
// several without a risk to the others.
func (d *driver) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	asking, cancelAsking := bound(ctx, callLimit)
	defer cancelAsking()
	if err := asking.Err(); err != nil {
		return nil, explain(asking, "watch events", err)
	}
	s, err := d.endpoint.dial(asking)
	if err != nil {
		return nil, explain(asking, "watch events", err)
	}
	w := &watcher{session: s, installation: installation, waiting: map[machine.Event]bool{}}
	// It ends with the connection, and is not to end before.
	lasting := context.WithoutCancel(ctx)
	heard, err := ask(asking, s, func(api *libvirt.Libvirt) (<-chan libvirt.DomainEventLifecycleMsg, error) {
		return api.LifecycleEvents(lasting)
	})
	if err == nil {
		w.known, err = ask(asking, s, w.learn)
	}
	if err != nil {
		s.close()
		return nil, explain(asking, "watch events", err)
	}
	out := make(chan machine.Event)
	news := make(chan machine.Event)
	go w.translate(ctx, heard, news)
	go func() {
		defer close(out)
		defer s.close()
		w.pass(ctx, d.closed, news, out)
	}()
	return out, nil
}

// watcher turns what libvirt says of domains into events of machines.
type watcher struct {
	session      *session
	installation string
	// known are the machines of the installation: a domain that is gone cannot be asked whose it was.
	known map[libvirt.UUID]machine.Event

	// What was not yet read is kept, once for each machine.
	queue   []machine.Event
	waiting map[machine.Event]bool
}

// learn looks at the domains that are there.
func (w *watcher) learn(api *libvirt.Libvirt) (map[libvirt.UUID]machine.Event, error) {
	const all = libvirt.ConnectListDomainsActive | libvirt.ConnectListDomainsInactive
	domains, _, err := api.ConnectListAllDomains(1, all)
	if err != nil {
		return nil, err
	}
	known := map[libvirt.UUID]machine.Event{}
	for _, dom := range domains {
		met, err := w.meet(api, dom)
		if err != nil {
			return nil, err
		}
		if met.ours {
			known[dom.UUID] = met.event
		}
	}
	return known, nil
}

// meeting is what a look at a domain has shown: whether it is still there, and whether it is a machine of the installation.
type meeting struct {
	there, ours bool
	event       machine.Event
}

// meet looks whose a domain is.
func (w *watcher) meet(api *libvirt.Libvirt, dom libvirt.Domain) (meeting, error) {
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

// translate hands on the events of machines of the installation, until the connection ends. Until then it takes whatever comes: the library
// keeps what nobody takes, without a bound.
func (w *watcher) translate(ctx context.Context, heard <-chan libvirt.DomainEventLifecycleMsg, news chan<- machine.Event) {
	defer close(news)
	for message := range heard {
		met, err := ask(ctx, w.session, func(api *libvirt.Libvirt) (meeting, error) { return w.meet(api, message.Dom) })
		if err != nil {
			w.session.close()
			continue
		}
		event, ours := w.known[message.Dom.UUID]
		switch {
		case !met.there:
			delete(w.known, message.Dom.UUID)
		case met.ours:
			event, ours = met.event, true
			w.known[message.Dom.UUID] = event
		default:
			ours = false
		}
		if !ours {
			continue
		}
		select {
		case news <- event:
		case <-w.session.wire.gone:
		}
	}
}

// pass hands events on until there are no more.
func (w *watcher) pass(ctx context.Context, closed <-chan struct{}, news <-chan machine.Event, out chan<- machine.Event) {
	for {
		var next machine.Event
		var ready chan<- machine.Event
		if len(w.queue) > 0 {
			next, ready = w.queue[0], out
		}
		select {
		case event, open := <-news:
			if !open {
				return
			}
			if !w.waiting[event] {
				w.waiting[event] = true
				w.queue = append(w.queue, event)
			}
		case ready <- next:
			delete(w.waiting, next)
			w.queue = w.queue[1:]
		case <-w.session.wire.gone:
			return
		case <-closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
