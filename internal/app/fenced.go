// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/windlass-operator/windlass/internal/fence"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/provision"
)

// fencedOpener returns an Opener whose drivers change machines only while the fence is open.
func fencedOpener(open machine.Opener, leading *fence.Fence) machine.Opener {
	return func(ctx context.Context, host machine.Host) (machine.Driver, error) {
		driver, err := open(ctx, host)
		if err != nil {
			return nil, err
		}
		return &fencedDriver{Driver: driver, fence: leading}, nil
	}
}

type fencedDriver struct {
	machine.Driver

	fence *fence.Fence
}

// Prepare implements machine.Driver.
func (d *fencedDriver) Prepare(ctx context.Context, spec machine.Spec) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Prepare(ctx, spec)
}

// Create implements machine.Driver.
func (d *fencedDriver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	if err := d.fence.Check(); err != nil {
		return machine.Observed{}, err
	}
	return d.Driver.Create(ctx, spec)
}

// Replace implements machine.Driver.
func (d *fencedDriver) Replace(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
	if err := d.fence.Check(); err != nil {
		return machine.Observed{}, err
	}
	return d.Driver.Replace(ctx, spec, how)
}

// Start implements machine.Driver.
func (d *fencedDriver) Start(ctx context.Context, id machine.Identity) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Start(ctx, id)
}

// Stop implements machine.Driver.
func (d *fencedDriver) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Stop(ctx, id, how)
}

// Suspend implements machine.Driver.
func (d *fencedDriver) Suspend(ctx context.Context, id machine.Identity) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Suspend(ctx, id)
}

// Resize implements machine.Driver.
func (d *fencedDriver) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Resize(ctx, id, to)
}

// Delete implements machine.Driver.
func (d *fencedDriver) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	if err := d.fence.Check(); err != nil {
		return err
	}
	return d.Driver.Delete(ctx, id, how)
}

// Console implements machine.Driver. What is typed changes the machine, so it is checked as well.
func (d *fencedDriver) Console(ctx context.Context, id machine.Identity) (machine.Console, error) {
	if err := d.fence.Check(); err != nil {
		return nil, err
	}
	lasting, cancel := context.WithCancel(ctx)
	at, err := d.Driver.Console(lasting, id)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		select {
		case <-d.fence.Deposed():
		case <-lasting.Done():
		}
	}()
	return &fencedConsole{Console: at, fence: d.fence, leave: cancel}, nil
}

// fencedConsole ends when another instance holds the lease, and nothing is typed while the fence is closed.
type fencedConsole struct {
	machine.Console

	fence *fence.Fence
	leave context.CancelFunc
}

// Write implements io.Writer.
func (c *fencedConsole) Write(typed []byte) (int, error) {
	if err := c.fence.Check(); err != nil {
		return 0, err
	}
	return c.Console.Write(typed)
}

// Close implements io.Closer.
func (c *fencedConsole) Close() error {
	defer c.leave()
	return c.Console.Close()
}

// fencedProvisioner starts and ends runs of tools, and removes what is kept of them, only while the fence is open. A run that has
// started continues under its supervisor, and the next leader follows it.
type fencedProvisioner struct {
	provision.Provisioner

	fence *fence.Fence
}

// Start implements provision.Provisioner. A start can wait for that of another Cluster, and for the API server, longer than the lease lasts: the fence is
// asked again right before the tool is started.
func (p *fencedProvisioner) Start(ctx context.Context, request provision.Request) error {
	if err := p.fence.Check(); err != nil {
		return err
	}
	given := request.CallBefore
	request.Before = func(ctx context.Context) error {
		if err := p.fence.Check(); err != nil {
			return err
		}
		if err := given(ctx); err != nil {
			return err
		}
		return p.fence.Check()
	}
	return p.Provisioner.Start(ctx, request)
}

// Cancel implements provision.Provisioner.
func (p *fencedProvisioner) Cancel(ctx context.Context, cluster string) error {
	if err := p.fence.Check(); err != nil {
		return err
	}
	return p.Provisioner.Cancel(ctx, cluster)
}

// Forget implements provision.Provisioner.
func (p *fencedProvisioner) Forget(ctx context.Context, cluster string) error {
	if err := p.fence.Check(); err != nil {
		return err
	}
	return p.Provisioner.Forget(ctx, cluster)
}
