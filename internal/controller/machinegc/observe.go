// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machinegc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
)

// observation is what a sweep has seen of a host.
type observation struct {
	host     string
	machines []observed
	// retained holds the recorded hosts of all machines that stay without an object, by UID.
	retained map[string]string
	// elsewhere holds those of them that another host has, as when hosts have got each other's names.
	elsewhere map[string]bool
	// complete says that all other hosts were swept since the last sweep of this one of which that was true.
	complete bool
	// others holds the machines that the last sweep of each other host has found, by host and UID.
	others map[string]map[string]bool
	// problems are the objects that cannot be read. Their machines are not orphans.
	problems []error
}

// observed is a machine and what is known of its object.
type observed struct {
	machine.Observed

	// owned says that the machine has an object, or that this is not known.
	owned bool
	// state is the machine's state as the status of the object tells it, and recorded the host where it is, empty for none.
	state, recorded string
	// object is the UID of the object, which is not that of the machine after a restore.
	object types.UID
}

// observe lists the machines of the host and reads their objects.
func (c *Collector) observe(ctx context.Context, driver machine.Driver, host string) (observation, error) {
	seen := observation{host: host}
	machines, err := driver.List(ctx, c.options.Installation)
	if err != nil {
		return seen, fmt.Errorf("cannot list machines: %w", err)
	}
	if seen.retained, err = c.options.Retained.Hosts(ctx); err != nil {
		return seen, err
	}
	for _, found := range machines {
		one := observed{Observed: found, owned: true}
		if _, stays := seen.retained[found.UID]; !stays && !found.Silent {
			if one, err = c.owner(ctx, found); err != nil {
				seen.problems = append(seen.problems, err)
			}
		}
		seen.machines = append(seen.machines, one)
	}
	return seen, nil
}

// confirm looks once more for what became of machines that seem to be new orphans while the sweep read their objects: a machine can have been removed, or
// retained, with its object. The entry of a retained machine comes before its object goes.
func (c *Collector) confirm(ctx context.Context, driver machine.Driver, seen *observation, before memory) error {
	isNew := func(one observed) bool {
		_, retained := seen.retained[one.UID]
		_, known := before.since[one.UID]
		return !one.owned && !retained && !known
	}
	if !slices.ContainsFunc(seen.machines, isNew) {
		return nil
	}
	retained, err := c.options.Retained.Hosts(ctx)
	if err != nil {
		return err
	}
	kept := seen.machines[:0]
	for _, one := range seen.machines {
		if _, stays := retained[one.UID]; !stays && isNew(one) {
			_, err := driver.Get(ctx, one.Identity)
			if errors.Is(err, machine.ErrNotFound) {
				continue
			}
			if err != nil {
				one.Silent = true // Whether it is an orphan, the next sweep may tell.
				seen.problems = append(seen.problems, fmt.Errorf("cannot get machine %q: %w", one.NativeName, err))
			}
		}
		kept = append(kept, one)
	}
	seen.machines = kept
	maps.Copy(seen.retained, retained)
	return nil
}

// owner returns the machine with what is known of its object. An object in the cache counts. If the cache has none, the API server is asked.
func (c *Collector) owner(ctx context.Context, found machine.Observed) (observed, error) {
	one := observed{Observed: found, owned: true}
	var vm cloudnativev1alpha1.VirtualMachine
	key := types.NamespacedName{Namespace: found.Namespace, Name: found.Name}
	err := c.options.Client.Get(ctx, key, &vm, client.UnsafeDisableDeepCopy)
	if err != nil || string(kube.MachineUIDOf(&vm)) != found.UID {
		vm = cloudnativev1alpha1.VirtualMachine{}
		err = c.options.Live.Get(ctx, key, &vm)
	}
	switch {
	case apierrors.IsNotFound(err):
		one.owned = false
		return one, nil
	case err != nil:
		return one, fmt.Errorf("cannot read VirtualMachine %q: %w", key, err)
	}
	one.owned, one.object = string(kube.MachineUIDOf(&vm)) == found.UID, vm.UID
	if vm.Status.Server != nil {
		one.state = vm.Status.Server.State
	}
	if !kube.IsTentative(&vm) {
		one.recorded = kube.PlacementOf(&vm).Host
	}
	return one, nil
}
