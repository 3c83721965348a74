// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// latency of a call.
func (h *Host) latency(call Call) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.script.Latency[AnyCall] + h.script.Latency[call]
}

// judge returns the fault of a call, nil if it has none, and an error if the host is away.
func (h *Host) judge(call Call, uid string) (*Fault, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away {
		return nil, fmt.Errorf("%w: the simulated host is away", machine.ErrUnreachable)
	}
	for i := range h.script.Faults {
		fault := &h.script.Faults[i]
		if fault.Call != AnyCall && fault.Call != call || fault.UID != "" && fault.UID != uid {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		if fault.Share > 0 && h.dice.Float64() >= fault.Share {
			continue
		}
		happens := *fault
		if happens.Err == nil {
			happens.Err = errFault
		}
		if fault.Times--; fault.Times == 0 {
			h.script.Faults = append(h.script.Faults[:i], h.script.Faults[i+1:]...)
		}
		return &happens, nil
	}
	return nil, nil
}

// list returns the guest as a list shows it.
func (h *Host) list(g *guest) machine.Observed {
	if h.hangs(g.spec.UID) {
		return g.listed()
	}
	return g.observe()
}

// hangs reports whether every look at the machine hangs, so that a list shows no more of it than that it is there.
func (h *Host) hangs(uid string) bool {
	return slices.ContainsFunc(h.script.Faults, func(f Fault) bool { return f.Call == CallGet && f.UID == uid && f.Hang })
}

// wait waits for d, until the channel is closed, or until the context ends, which is the only error.
func wait(ctx context.Context, h *Host, d time.Duration, or <-chan struct{}) error {
	if d <= 0 {
		return nil
	}
	over := make(chan struct{})
	timer := h.script.Clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over:
	case <-or:
	}
	return nil
}

// stop powers the machine off. If the machine ignores a soft stop, it waits for the grace.
func (h *Host) stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	off, err := h.requestStop(id, how)
	if err != nil || off == nil {
		return err
	}
	err = wait(ctx, h, how.Grace, off)

	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.find(id)
	switch {
	case g == nil || g.off != off || !g.on():
		return nil
	case err == nil && how.Mode == machine.TrySoft:
		h.halt(g, killedExitCode, "")
		return nil
	}
	g.state = machine.StateRunning
	h.tell(g)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: still running after %s", machine.ErrBusy, how.Grace)
}

// requestStop powers the machine off, unless it ignores a soft stop. In that case it returns the channel that is closed when the machine
// is off.
func (h *Host) requestStop(id machine.Identity, how machine.PowerOff) (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.find(id)
	switch {
	case g == nil:
		return nil, machine.ErrNotFound
	case !g.on():
		return nil, nil
	case how.Mode == machine.Hard:
		h.halt(g, killedExitCode, "")
		return nil, nil
	case g.state == machine.StatePaused:
		h.resume(g) // a suspended machine does not notice that it is asked to shut down
	}
	switch {
	case !g.on():
		return nil, nil
	case !g.behaviour.ignoreStop:
		h.halt(g, stoppedExitCode, "")
		return nil, nil
	}
	g.state = machine.StateStopping
	h.tell(g)
	return g.off, nil
}
