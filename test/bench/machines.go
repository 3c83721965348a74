// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	vmachine "github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/test/rig"
)

// machines measures how long many VirtualMachines take until all of them are Active, against the same calls of the same drivers in a
// bare loop, and what is written while nothing changes.
func machines(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.Machines
	s := section{Title: fmt.Sprintf("%d VirtualMachines created at once on %d simulated hosts, then left alone for %s", n, machineHosts, b.options.Window)}
	if err := r.addNamespace(ctx); err != nil {
		return s, err
	}
	p := &machineBench{
		plane: r, count: n, window: b.options.Window, hosts: filepath.Join(r.Dir, "hosts.yaml"), new: newMachine,
		hostList: simulatedHosts(), driver: vmachine.DriverSimulated,
	}
	p.measure(&s, "bare loop of fetch, create and start")
	if p.window > 0 {
		p.memory = s.measure("resident with all of them", "MiB")
	}
	if err := p.writeHosts(); err != nil {
		return s, err
	}
	floor := newMachineFloor(p, &s)
	p.sample = &floor.machineSample
	err := b.interleave(ctx, variant{variantDrivers, p.drivers}, variant{variantMachines, p.machines}, variant{variantFloor, floor.run})
	if err == nil && p.window > 0 {
		b.tell("      %s with all of them, and nothing to do", p.window)
		err = p.steady(ctx, &s)
	}
	s.Checks = append(s.Checks, p.beyond, floor.alike)
	s.Ratios = append(s.Ratios, compare("vms to the bare loop of the drivers' calls", p.took, p.floor, 1.2),
		compare("vms to the floor", p.took, floor.took, 1.3))
	return s, err
}

func (p *machineBench) machines(ctx context.Context, round int) error {
	m, err := p.start(ctx)
	if err != nil {
		return err
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	before := readUsage(p.plane.pids)
	took, err := p.make(ctx, round)
	if err != nil {
		return err
	}
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	after := readUsage(p.plane.pids)
	p.took.add(round, took.Seconds())
	count := wrote.sum(by(agentWindlass), besidesLease)
	p.perMachine.add(round, float64(count)/float64(p.count))
	p.beyond.Got = append(p.beyond.Got, beyond(count, p.count, writesOfMachine))
	p.cost.add(round, after.per(before, agentWindlass, p.count))
	p.costServer.add(round, after.per(before, processAPIServer, p.count))
	if p.sample != nil {
		if err := p.sample.end(ctx, p.plane); err != nil {
			return err
		}
	}
	if err := p.clean(ctx); err != nil {
		return err
	}
	return m.stop()
}

// steady counts what is written while all machines run and nothing changes. The first usage of each machine, which is written as soon
// as there is one, comes before.
func (p *machineBench) steady(ctx context.Context, s *section) error {
	m, err := p.start(ctx)
	if err != nil {
		return err
	}
	if _, err := p.make(ctx, 0); err != nil {
		return err
	}
	for { // until every machine has its first usage
		written, err := m.metric(ctx, "windlass_vm_usage_status_writes_total")
		if err != nil {
			return err
		}
		if int(written) >= p.count {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	used := rig.CPUTime(m.PID)
	if err := pause(ctx, p.window); err != nil {
		return err
	}
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	status := wrote.sum(by(agentWindlass), to("virtualmachines/status"))
	s.note("in %s: %d status writes by windlass, %.2f for each VirtualMachine; all its writes: %s; %.0f ms of CPU a second", p.window, status,
		float64(status)/float64(p.count), wrote.text(by(agentWindlass), besidesLease),
		float64(rig.CPUTime(m.PID)-used)/float64(time.Millisecond)/p.window.Seconds())
	now, _ := resident(m.PID)
	p.memory.add(1, now)
	if err := p.clean(ctx); err != nil {
		return err
	}
	return m.stop()
}
