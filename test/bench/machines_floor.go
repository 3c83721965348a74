// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// machineFloor is a bare loop of all that a VirtualMachine needs: the calls of its driver, and what Windlass writes before, meanwhile and
// afterwards. It decides nothing, and looks at nothing.
type machineFloor struct {
	machineSample

	bench            *machineBench
	took, costServer *series
	alike            check
}

func newMachineFloor(p *machineBench, s *section) *machineFloor {
	return &machineFloor{
		bench: p, took: s.measure("floor: until all VirtualMachines are Active", "s"), costServer: s.measure("floor: CPU of apiserver", "ms each"),
		alike: check{Name: "writes by the floor", Want: writesOfMachine * p.count},
	}
}

// run plays a round.
func (f *machineFloor) run(ctx context.Context, round int) error {
	p := f.bench
	if f.event == nil {
		return errors.New("cannot run the floor before Windlass: nobody has seen what it writes")
	}
	bare, err := client.New(as(p.plane.account, agentFloor), client.Options{Scheme: p.plane.scheme})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	hosts := make([]*drivenHost, machineHosts)
	for i := range hosts {
		if hosts[i], err = openDriven(ctx); err != nil {
			return err
		}
	}
	mark, err := p.plane.audit.mark()
	if err != nil {
		return err
	}
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var group sync.WaitGroup
	places, before := make(chan struct{}, threads), readUsage(p.plane.pids)
	took, err := p.untilActive(running, func(ctx context.Context, i int) error {
		vm := p.new(machineName(round, i))
		if err := p.plane.Client.Create(ctx, vm); err != nil {
			return err
		}
		group.Go(func() {
			if err := f.bringUp(running, bare, places, hosts[i%machineHosts], vm); err != nil {
				fail(err)
			}
		})
		return nil
	})
	group.Wait()
	if failed := context.Cause(running); failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	f.took.add(round, took.Seconds())
	f.costServer.add(round, readUsage(p.plane.pids).per(before, processAPIServer, p.count))
	wrote, err := p.plane.audit.since(mark)
	if err != nil {
		return err
	}
	f.alike.Got = append(f.alike.Got, wrote.sum(by(agentFloor)))
	return f.clean(ctx, bare, hosts)
}

// bringUp does for one VirtualMachine what Windlass does.
func (f *machineFloor) bringUp(
	ctx context.Context, bare client.Client, places chan struct{}, host *drivenHost, vm *cloudnativev1alpha1.VirtualMachine,
) error {
	last := len(f.statuses) - 1
	err := in(places, func() error {
		_, err := patch.AddFinalizer(ctx, bare, vm, cloudnativev1alpha1.Finalizer)
		return err
	})
	for _, status := range f.statuses[:last] {
		if err == nil {
			err = in(places, func() error { return f.write(ctx, bare, vm, status) })
		}
	}
	if err == nil {
		err = host.power(ctx, vm.Name)
	}
	if err == nil {
		err = in(places, func() error { return f.write(ctx, bare, vm, f.statuses[last]) })
	}
	if err != nil {
		return err
	}
	return in(places, func() error { return tellOf(ctx, bare, vm, f.event, f.name) })
}

// write writes a status.
func (f *machineFloor) write(ctx context.Context, bare client.Client, vm *cloudnativev1alpha1.VirtualMachine, status []byte) error {
	before := vm.DeepCopy()
	vm.Status = cloudnativev1alpha1.VirtualMachineStatus{}
	if err := json.Unmarshal(bytes.ReplaceAll(status, []byte(f.name), []byte(vm.Name)), &vm.Status); err != nil {
		return fmt.Errorf("cannot decode a status: %w", err)
	}
	_, err := patch.Status(ctx, bare, before, vm)
	return err
}

// clean removes the objects, whose finalizers nobody else takes off, and the hosts.
func (f *machineFloor) clean(ctx context.Context, bare client.Client, hosts []*drivenHost) error {
	list := &cloudnativev1alpha1.VirtualMachineList{}
	if err := f.bench.plane.Client.List(ctx, list, client.InNamespace(benchNamespace)); err != nil {
		return fmt.Errorf("cannot list VirtualMachines: %w", err)
	}
	err := forEach(ctx, creators, len(list.Items), func(ctx context.Context, i int) error {
		_, err := patch.RemoveFinalizers(ctx, bare, &list.Items[i], cloudnativev1alpha1.Finalizer)
		return err
	})
	if err != nil {
		return err
	}
	for _, host := range hosts {
		if err := host.driver.Close(); err != nil {
			return err
		}
	}
	return f.bench.clean(ctx)
}
