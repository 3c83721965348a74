// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"sync"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// workshop knows the machines that are being made, by UID and installation.
type workshop struct {
	mu   sync.Mutex
	jobs map[machine.Identity]*job
}

// job is the making of one machine.
type job struct {
	done chan struct{}
	err  error
}

func newWorkshop() *workshop { return &workshop{jobs: map[machine.Identity]*job{}} }

// keyOf leaves out of an identity what is for the eye.
func keyOf(id machine.Identity) machine.Identity {
	return machine.Identity{Installation: id.Installation, UID: id.UID}
}

// begin returns the job of the machine, which is begun with what prepare returns if there is none. A machine is acted on by one caller
// at a time, so nobody waits here for the preparation of another.
func (w *workshop) begin(id machine.Identity, prepare func() (func() error, error)) (*job, error) {
	if j := w.find(id); j != nil {
		return j, nil
	}
	work, err := prepare()
	if err != nil {
		return nil, err
	}
	j := &job{done: make(chan struct{})}
	w.mu.Lock()
	w.jobs[keyOf(id)] = j
	w.mu.Unlock()
	go func() {
		j.err = work()
		w.mu.Lock()
		delete(w.jobs, keyOf(id))
		w.mu.Unlock()
		close(j.done)
	}()
	return j, nil
}

// find returns the job of the machine, nil if there is none.
func (w *workshop) find(id machine.Identity) *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs[keyOf(id)]
}

// wait waits until the job is done, or ctx ends.
func (j *job) wait(ctx context.Context) error {
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return fmt.Errorf("cannot wait until the disks are there, which are still being made: %w", ctx.Err())
	}
}

// carryOut makes the volumes and then the domain, so that a domain that is there is whole. What fails leaves nothing.
func (d *driver) carryOut(ctx context.Context, p *plan) error {
	// Copying takes its time, and has a connection of its own for it. It ends with the driver.
	s, err := d.endpoint.dial(ctx)
	if err != nil {
		return explain(ctx, "make disks", err)
	}
	defer s.close()
	s.patience = makingLimit
	go func() {
		select {
		case <-d.closed:
			s.close()
		case <-s.wire.gone:
		}
	}()
	made := recordOf(p.spec)
	for i := range p.volumes {
		made.Volumes = append(made.Volumes, volume{Pool: p.pool.Name, Name: p.volumes[i].name})
	}
	for i := range p.volumes {
		if err = p.volumes[i].build(ctx, s, p.pool); err != nil {
			break
		}
	}
	if err == nil {
		err = d.define(ctx, s, p, made)
	}
	if err != nil && !errors.Is(err, machine.ErrUnreachable) {
		// Where this fails too, the next Create or Delete does it.
		err = errors.Join(err, d.discard(ctx, made.Volumes))
	}
	return err
}

// define makes the domain under the first name that is free.
func (d *driver) define(ctx context.Context, s *session, p *plan, made record) error {
	var taken error
	for _, name := range namesOf(p.spec.Identity) {
		domain, err := domainOf(p.spec, p.host, name, made, p.disks)
		if err != nil {
			return err
		}
		text, err := xml.Marshal(domain)
		if err != nil {
			return fmt.Errorf("cannot write domain %q: %w", name, err)
		}
		_, err = ask(ctx, s, func(api *libvirt.Libvirt) (libvirt.Domain, error) {
			made, err := api.DomainDefineXMLFlags(string(text), 0)
			if err == nil {
				return made, nil
			}
			// libvirt has one kind of error for most of what can fail here.
			holder, lookErr := api.DomainLookupByName(name)
			if lookErr == nil && textOf(holder.UUID) != p.spec.UID {
				err = fmt.Errorf("%w: %w", machine.ErrConflict, err)
			}
			return made, err
		})
		if !errors.Is(err, machine.ErrConflict) {
			return explain(ctx, fmt.Sprintf("define domain %q", name), err)
		}
		taken = fmt.Errorf("cannot define domain %q: %w", name, err)
	}
	return taken
}
