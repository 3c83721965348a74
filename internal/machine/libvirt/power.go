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

// How often is looked whether a guest is off, and asked again that does not seem to have heard: one that is booting has no ears yet.
const (
	stopPoll  = 100 * time.Millisecond
	askPeriod = 5 * time.Second
)

// Start implements machine.Driver. One that is paused goes on.
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
		return fmt.Errorf("cannot %s: %w: it is on its way off", what, machine.ErrBusy)
	default:
		return d.boot(ctx, &f, what)
	}
}

// boot starts a domain that is off. That it was started is written down before: the other way round, a crash in between would leave a
// machine that has run and does not know it.
func (d *driver) boot(ctx context.Context, f *found, what string) error {
	before := f.record()
	after := before
	after.Run, after.Started = rand.Text(), d.clock.Now().UTC().Format(time.RFC3339Nano)
	if err := d.keep(ctx, f.dom, after, libvirt.DomainAffectConfig); err != nil {
		return explain(ctx, what, err)
	}
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error {
		_, err := api.DomainCreateWithFlags(f.dom, 0)
		return err
	})
	if err == nil {
		return nil
	}
	now, lookErr := d.look(ctx, f.dom)
	if lookErr == nil && now.active() {
		return nil // Somebody else was faster.
	}
	if lookErr == nil {
		lookErr = d.keep(ctx, f.dom, before, libvirt.DomainAffectConfig)
	}
	return errors.Join(explain(ctx, what, err), explain(ctx, "take back that it was started", lookErr))
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

// pull pulls the plug.
func (d *driver) pull(ctx context.Context, f *found) error {
	err := tell(ctx, d.acting, func(api *libvirt.Libvirt) error { return api.DomainDestroyFlags(f.dom, 0) })
	if err == nil {
		return nil
	}
	if off, lookErr := d.isOff(ctx, f); off && lookErr == nil {
		return nil // It is off, or gone, by itself.
	}
	return explain(ctx, fmt.Sprintf("stop domain %q", f.Name), err)
}

// ask presses the power button until the domain is off: ErrBusy if it is not within the grace.
func (d *driver) ask(ctx context.Context, f *found, grace time.Duration) error {
	what := fmt.Sprintf("stop domain %q", f.Name)
	if f.state == libvirt.DomainPaused {
		// What is held hears no button.
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

// disobeyed says that a domain is still on. One that goes off just when it is asked has many ways to say that it cannot be asked, so what it has
// said only counts if it is still on in the end.
func disobeyed(ctx context.Context, grace time.Duration, refused error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return fmt.Errorf("%w: it cannot be asked: %w", machine.ErrBusy, refused)
	default:
		return fmt.Errorf("%w: it did not obey its power button within %s", machine.ErrBusy, grace)
	}
}

// isOff tells whether the domain is off, or gone.
func (d *driver) isOff(ctx context.Context, f *found) (bool, error) {
	now, err := d.look(ctx, f.dom)
	if errors.Is(err, machine.ErrNotFound) {
		return true, nil
	}
	return err == nil && !now.active(), err
}
