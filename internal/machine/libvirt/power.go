// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// stopPoll is how often a stop checks whether the guest is off, and askPeriod how often it presses the power button again: a guest that is
// booting ignores it.
const (
	stopPoll  = 100 * time.Millisecond
	askPeriod = 5 * time.Second
)

// Start implements machine.Driver. It resumes a paused domain.
func (d *driver) Start(ctx context.Context, id machine.Identity) error {
	f, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("start domain %q", f.Name)
	switch f.state {
	case libvirt.DomainRunning, libvirt.DomainBlocked:
		return nil
	case libvirt.DomainPaused:
		return explain(ctx, what, tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainResume(f.dom) }))
	case libvirt.DomainPmsuspended:
		return explain(ctx, what, tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainPmWakeup(f.dom, 0) }))
	case libvirt.DomainShutdown:
		return fmt.Errorf("cannot %s: %w: it is shutting down", what, machine.ErrBusy)
	default:
		return d.boot(ctx, &f, what)
	}
}

// Suspend implements machine.Driver.
func (d *driver) Suspend(ctx context.Context, id machine.Identity) error {
	f, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("suspend domain %q", f.Name)
	switch {
	case !f.active():
		return fmt.Errorf("cannot %s: %w", what, machine.ErrOff)
	case f.state == libvirt.DomainPaused || f.state == libvirt.DomainPmsuspended:
		return nil
	}
	err = tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainSuspend(f.dom) })
	if err == nil {
		return nil
	}
	if off, lookErr := d.isOff(ctx, &f); off && lookErr == nil {
		return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrOff, err) // It has ended in the meantime.
	}
	return explain(ctx, what, err)
}

// boot starts a domain that is off. It records the run first: otherwise a crash between the two steps would leave a machine that has run
// without a record of it. A caller who cancels it gets both or none: a record alone would tell of a run that never was.
func (d *driver) boot(ctx context.Context, f *found, what string) error {
	settling, settled := machine.Settle(ctx)
	defer settled()
	before := f.record()
	after := before
	after.Run, after.Started = rand.Text(), d.clock.Now().UTC().Format(time.RFC3339Nano)
	if err := d.keep(settling, f.dom, after, libvirt.DomainAffectConfig); err != nil {
		return explain(ctx, what, err)
	}
	err := tell(settling, d.acting, func(api *libvirt.Libvirt) error {
		_, err := api.DomainCreateWithFlags(f.dom, 0)
		return err
	})
	if err == nil {
		return nil
	}
	now, lookErr := d.look(settling, f.dom)
	if lookErr == nil && now.active() {
		return nil // Somebody else has started it.
	}
	if lookErr == nil {
		lookErr = d.keep(settling, f.dom, before, libvirt.DomainAffectConfig)
	}
	return errors.Join(explain(ctx, what, err), explain(ctx, "undo the record of its start", lookErr))
}

// Stop implements machine.Driver.
func (d *driver) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	f, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	return d.stop(ctx, &f, how)
}

// stop turns a domain off and waits until it is.
func (d *driver) stop(ctx context.Context, f *found, how machine.PowerOff) error {
	if !f.active() {
		return nil
	}
	if how.Mode == machine.Hard {
		return d.pull(ctx, f)
	}
	err := d.ask(ctx, f, how.Grace)
	if errors.Is(err, machine.ErrBusy) && how.Mode == machine.TrySoft {
		return d.pull(ctx, f)
	}
	return err
}

// pull turns a domain off without asking its guest.
func (d *driver) pull(ctx context.Context, f *found) error {
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainDestroyFlags(f.dom, 0) })
	if err == nil {
		return nil
	}
	if off, lookErr := d.isOff(ctx, f); off && lookErr == nil {
		return nil // It has ended or disappeared in the meantime.
	}
	return explain(ctx, fmt.Sprintf("stop domain %q", f.Name), err)
}

// ask presses the power button until the domain is off: ErrBusy if it is not within the grace.
func (d *driver) ask(ctx context.Context, f *found, grace time.Duration) error {
	what := fmt.Sprintf("stop domain %q", f.Name)
	if f.state == libvirt.DomainPaused {
		// A paused guest cannot react.
		if err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainResume(f.dom) }); err != nil {
			return explain(ctx, what, err)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	press := time.NewTicker(askPeriod)
	defer press.Stop()
	look := time.NewTicker(stopPoll)
	defer look.Stop()
	var refused error
	for pressing := true; ; {
		if pressing {
			refused = tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainShutdownFlags(f.dom, 0) })
		}
		pressing = false
		off, err := d.isOff(ctx, f)
		if off || err != nil {
			return err
		}
		select {
		case <-look.C:
		case <-press.C:
			pressing = true
		case <-waiting.Done():
			return explain(ctx, what, disobeyed(ctx, grace, refused))
		}
	}
}

// disobeyed returns the error for a domain that is still on. A domain that is just ending refuses the request in many ways, so a refusal counts
// only if the domain is still on at the end.
func disobeyed(ctx context.Context, grace time.Duration, refused error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return fmt.Errorf("%w: it refuses to shut down: %w", machine.ErrBusy, refused)
	default:
		return fmt.Errorf("%w: it did not react to its power button within %s", machine.ErrBusy, grace)
	}
}

// isOff reports whether the domain is off or gone.
func (d *driver) isOff(ctx context.Context, f *found) (bool, error) {
	now, err := d.look(ctx, f.dom)
	if errors.Is(err, machine.ErrNotFound) {
		return true, nil
	}
	return err == nil && !now.active(), err
}
