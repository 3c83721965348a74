// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	vmachine "github.com/windlass-operator/windlass/internal/machine"
	simdriver "github.com/windlass-operator/windlass/internal/machine/simulated"
)

const variantDrivers = "drivers"

// drivers makes the calls that the machines need on the hosts, as many at a time as the manager makes, and nothing else.
func (p *machineBench) drivers(ctx context.Context, round int) error {
	begun := time.Now()
	errs := make(chan error, machineHosts)
	for host := range machineHosts {
		go func() { errs <- p.drive(ctx, host) }()
	}
	for range machineHosts {
		if err := <-errs; err != nil {
			return err
		}
	}
	p.floor.add(round, time.Since(begun).Seconds())
	return nil
}

// drive makes the share of one host.
func (p *machineBench) drive(ctx context.Context, number int) error {
	host, err := openDriven(ctx)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	share := p.count / machineHosts
	errs := make(chan error, share)
	for i := range share {
		group.Go(func() { errs <- host.power(ctx, fmt.Sprintf("vm-%d-%d", number, i)) })
	}
	group.Wait()
	for range share {
		if err := <-errs; err != nil {
			return err
		}
	}
	return host.driver.Close()
}

// drivenHost is a simulated host with as many calls at a time as the manager makes. Fetching has places of its own, as there.
type drivenHost struct {
	driver           vmachine.Driver
	fetches, actions chan struct{}
}

func openDriven(ctx context.Context) (*drivenHost, error) {
	driver, err := simdriver.Open(ctx, vmachine.Host{Name: variantFloor, Endpoint: endpoint})
	if err != nil {
		return nil, err
	}
	return &drivenHost{driver, make(chan struct{}, vmachine.DefaultMaxCalls), make(chan struct{}, vmachine.DefaultMaxCalls)}, nil
}

// power makes a machine and powers it on.
func (h *drivenHost) power(ctx context.Context, name string) error {
	id := vmachine.Identity{Installation: variantFloor, UID: name, Name: name}
	spec := vmachine.Spec{Identity: id, Image: vmachine.Image{Name: cloudnativev1alpha1.DefaultImage}}
	err := in(h.fetches, func() error { return h.driver.Prepare(ctx, spec) })
	if err == nil {
		err = in(h.actions, func() error { _, err := h.driver.Create(ctx, spec); return err })
	}
	if err == nil {
		err = in(h.actions, func() error { return h.driver.Start(ctx, id) })
	}
	if err != nil {
		return fmt.Errorf("cannot drive a simulated host: %w", err)
	}
	return nil
}

// in does something once the lane has a place.
func in(lane chan struct{}, do func() error) error {
	lane <- struct{}{}
	defer func() { <-lane }()
	return do()
}
