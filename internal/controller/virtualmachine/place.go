// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"errors"
	"time"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
)

// recheckPlace is how often a machine without a host looks for one. Usually a host that comes up wakes it.
const recheckPlace = 30 * time.Second

// placeOn chooses the host for a machine and returns its claim there. Hosts for which overcommits is true are overcommitted once no
// host has room, if the machine fits there alone.
func placeOn(
	vm *cloudnativev1alpha1.VirtualMachine, hosts []placement.Candidate, defaultDriver string, overcommits func(host string) bool,
) (claim, error) {
	driver := cmp.Or(string(vm.Spec.Driver), defaultDriver)
	size := resourcesOf(vm.Spec.Resource, driver)
	host, err := placement.Choose(hosts, size, driver, vm.Spec.Host)
	if errors.Is(err, machine.ErrNoCapacity) {
		for i := range hosts {
			if overcommits(hosts[i].Name) {
				hosts[i].Allocated.Resources = machine.Resources{}
			}
		}
		host, err = placement.Choose(hosts, size, driver, vm.Spec.Host)
	}
	return claim{kube.Placement{Driver: driver, Host: host}, size}, err
}

// notPlaced says why a machine has no host.
func notPlaced(err error) flow.Outcome {
	switch {
	case errors.Is(err, machine.ErrNoHost):
		return flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, err)
	case errors.Is(err, machine.ErrNoCapacity):
		return flow.Wait(cloudnativev1alpha1.ReasonNoCapacity, "a host with room: "+err.Error(), recheckPlace)
	case errors.Is(err, machine.ErrUnreachable):
		return flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, "a host to answer: "+err.Error(), recheckPlace)
	default:
		return flow.Fail(err)
	}
}
