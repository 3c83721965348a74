// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/windlass-operator/windlass/internal/machine"
)

// version of the simulation, as Info reports it.
const version = "1"

// driver is a connection to a host.
type driver struct {
	host   *Host
	closed atomic.Bool
}

// do makes a call with the latency and the faults of the script.
func (d *driver) do(ctx context.Context, call Call, uid string, work func(h *Host) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simulated %s: %w", call, err)
	}
	if err := wait(ctx, d.host, d.host.latency(call), nil); err != nil {
		return fmt.Errorf("simulated %s: %w", call, err)
	}
	fault, err := d.host.judge(call, uid)
	switch {
	case d.closed.Load():
		return fmt.Errorf("simulated %s: %w: the driver is closed", call, machine.ErrUnreachable)
	case err != nil:
		return fmt.Errorf("simulated %s: %w", call, err)
	case fault != nil && fault.Hang:
		<-ctx.Done()
		return fmt.Errorf("simulated %s: %w", call, ctx.Err())
	case fault != nil && !fault.Late:
		return fmt.Errorf("simulated %s: %w", call, fault.Err)
	}
	if err := work(d.host); err != nil {
		return fmt.Errorf("simulated %s: %w", call, err)
	}
	if fault != nil {
		return fmt.Errorf("simulated %s: %w", call, fault.Err)
	}
	return nil
}

// locked wraps work that holds the host's lock from start to end.
func locked(work func(h *Host) error) func(h *Host) error {
	return func(h *Host) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		return work(h)
	}
}

// Info implements machine.Driver.
func (d *driver) Info(ctx context.Context) (machine.Info, error) {
	var out machine.Info
	err := d.do(ctx, CallInfo, "", locked(func(h *Host) error {
		out = machine.Info{
			Driver:   machine.DriverSimulated,
			Version:  version,
			Capacity: h.script.Capacity,
			Capabilities: machine.Capabilities{
				LiveCPU:      !h.script.Fixed.CPU,
				LiveMemory:   !h.script.Fixed.Memory,
				LiveRootDisk: !h.script.Fixed.RootDisk,
				RootDisk:     true,
				Disks:        h.script.Disks,
				Containers:   true,
				Output:       true, Console: true,
			},
		}
		return nil
	}))
	return out, err
}

// Get implements machine.Driver.
func (d *driver) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	var out machine.Observed
	err := d.do(ctx, CallGet, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		if g == nil {
			return machine.ErrNotFound
		}
		out = g.observe()
		return nil
	}))
	return out, err
}

// List implements machine.Driver.
func (d *driver) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	var out []machine.Observed
	err := d.do(ctx, CallList, "", locked(func(h *Host) error {
		guests := h.owned[installation]
		out = make([]machine.Observed, 0, len(guests))
		for _, uid := range uids(guests) {
			out = append(out, h.list(guests[uid]))
		}
		return nil
	}))
	return out, err
}

// Stats implements machine.Driver.
func (d *driver) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	var out map[string]machine.Sample
	err := d.do(ctx, CallStats, "", locked(func(h *Host) error {
		guests, now := h.owned[installation], h.script.Clock.Now()
		out = make(map[string]machine.Sample, len(guests))
		for uid, g := range guests {
			if g.running() {
				out[uid] = g.sample(now)
			}
		}
		return nil
	}))
	return out, err
}

// Watch implements machine.Driver.
func (d *driver) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	queue := machine.NewEventQueue()
	err := d.do(ctx, CallWatch, "", locked(func(h *Host) error {
		h.watches[queue] = installation
		return nil
	}))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { d.host.unwatch(queue) })
	return queue.Deliver(ctx), nil
}

// Prepare implements machine.Driver.
func (d *driver) Prepare(ctx context.Context, spec machine.Spec) error {
	return d.do(ctx, CallPrepare, spec.UID, locked(func(h *Host) error {
		if _, err := check(spec); err != nil {
			return err
		}
		if err := h.makeDisk(spec); err != nil {
			return err
		}
		name := spec.Image.Name
		switch {
		case name == "":
			return fmt.Errorf("%w: the machine has no image", machine.ErrInvalid)
		case h.images[name] && spec.Image.PullPolicy != machine.PullAlways:
			return nil
		case repository(name) == "missing":
			return fmt.Errorf("%w: %q does not exist", machine.ErrImageNotFound, name)
		case spec.Image.PullPolicy == machine.PullNever:
			return fmt.Errorf("%w: %q is not on the host, and pullPolicy is Never", machine.ErrImageNotFound, name)
		case repository(name) == "refused":
			return fmt.Errorf("%w: the registry refuses %q", machine.ErrImagePull, name)
		}
		h.images[name] = true
		return nil
	}))
}

// repository returns the last part of the name of an image, without tag and digest.
func repository(name string) string {
	name, _, _ = strings.Cut(name, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	name, _, _ = strings.Cut(name, ":")
	return name
}

// Create implements machine.Driver.
func (d *driver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	var out machine.Observed
	err := d.do(ctx, CallCreate, spec.UID, locked(func(h *Host) error {
		g := h.find(spec.Identity)
		if g == nil {
			var err error
			if g, err = h.create(spec); err != nil {
				return err
			}
		}
		out = g.observe()
		return nil
	}))
	return out, err
}

// create makes a machine that does not exist yet.
func (h *Host) create(spec machine.Spec) (*guest, error) {
	behaviour, err := h.admit(spec, machine.Resources{})
	if err != nil {
		return nil, err
	}
	return h.add(spec, behaviour)
}

// admit checks that the host can make a machine in the place of one that has the size now, and returns how the machine behaves.
func (h *Host) admit(spec machine.Spec, now machine.Resources) (behaviour, error) {
	behaves, err := check(spec)
	if err != nil {
		return behaves, err
	}
	if !h.images[spec.Image.Name] {
		return behaves, fmt.Errorf("%w: %q is not on the host", machine.ErrImageNotFound, spec.Image.Name)
	}
	if err := h.findDisk(spec); err != nil {
		return behaves, err
	}
	return behaves, h.reserve(now, spec.Resources)
}

// check refuses what no simulated host can run, and returns how the machine behaves.
func check(spec machine.Spec) (behaviour, error) {
	if spec.Installation == "" || spec.UID == "" || spec.Name == "" {
		return behaviour{}, fmt.Errorf("%w: the machine has no identity", machine.ErrInvalid)
	}
	if spec.Boot != (machine.Boot{}) || len(spec.Disks) > 0 || len(spec.Networks) > 0 || !spec.CloudInit.IsZero() {
		return behaviour{}, fmt.Errorf("%w: a container has no boot, disks, networks and cloud-init", machine.ErrUnsupported)
	}
	return parseBehaviour(spec.Env)
}

// Start implements machine.Driver.
func (d *driver) Start(ctx context.Context, id machine.Identity) error {
	return d.do(ctx, CallStart, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		switch {
		case g == nil:
			return machine.ErrNotFound
		case g.running():
			return nil
		case g.state == machine.StatePaused:
			h.resume(g)
			return nil
		}
		h.start(g)
		return nil
	}))
}

// start powers on a machine that is off, and schedules its exit if its environment asks for one.
func (h *Host) start(g *guest) {
	g.start(h.script.Load)
	h.tell(g)
	if g.behaviour.exitAfter == 0 {
		return
	}
	boot := g.boots
	h.script.Clock.AfterFunc(g.behaviour.exitAfter, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case g.boots != boot:
		case g.running():
			h.halt(g, g.behaviour.exitCode, "")
		default:
			g.expired = g.on()
		}
	})
}

// resume lets a suspended machine go on. One whose time is over powers itself off.
func (h *Host) resume(g *guest) {
	g.resume()
	h.tell(g)
	if g.expired {
		h.halt(g, g.behaviour.exitCode, "")
	}
}

// Suspend implements machine.Driver.
func (d *driver) Suspend(ctx context.Context, id machine.Identity) error {
	return d.do(ctx, CallSuspend, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		switch {
		case g == nil:
			return machine.ErrNotFound
		case g.state == machine.StatePaused:
			return nil
		case !g.running():
			return machine.ErrOff
		}
		g.suspend()
		h.tell(g)
		return nil
	}))
}

// Stop implements machine.Driver.
func (d *driver) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return d.do(ctx, CallStop, id.UID, func(h *Host) error { return h.stop(ctx, id, how) })
}

// Resize implements machine.Driver.
func (d *driver) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	return d.do(ctx, CallResize, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		if g == nil {
			return machine.ErrNotFound
		}
		now := g.spec.Resources
		to.RootDiskBytes = cmp.Or(to.RootDiskBytes, now.RootDiskBytes)
		if err := h.reserve(now, to); err != nil {
			return err
		}
		switch {
		case now == to:
			return nil
		case to.RootDiskBytes < now.RootDiskBytes:
			return fmt.Errorf("%w: its root disk has %d bytes and cannot become smaller", machine.ErrInvalid, now.RootDiskBytes)
		case g.on() && h.script.Fixed.keeps(now, to):
			return machine.ErrRestartRequired
		}
		h.used = plus(plus(h.used, now, -1), to, 1)
		g.resize(to)
		h.tell(g)
		return nil
	}))
}

// Delete implements machine.Driver.
func (d *driver) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return d.do(ctx, CallDelete, id.UID, func(h *Host) error {
		if err := h.stop(ctx, id, how); err != nil && !errors.Is(err, machine.ErrNotFound) {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if g := h.find(id); g != nil {
			h.remove(g)
		}
		delete(h.disks, diskOf(id))
		return nil
	})
}

// Close implements machine.Driver.
func (d *driver) Close() error {
	d.closed.Store(true)
	return nil
}
