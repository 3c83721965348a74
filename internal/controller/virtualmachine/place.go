// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/placement"
	"github.com/windlass-operator/windlass/internal/status"
)

// recheckPlace is how often a machine without a host looks for one. Usually a host that comes up wakes it.
const recheckPlace = 30 * time.Second

// wish returns what a machine without a host asks for: a driver, a size, and perhaps a host.
func wish(vm *cloudnativev1alpha1.VirtualMachine, defaultDriver string) claim {
	driver := cmp.Or(string(vm.Spec.Driver), defaultDriver)
	return claim{kube.Placement{Driver: driver, Host: vm.Spec.Host}, resourcesOf(vm.Spec.Resource, driver)}
}

// place chooses a host for what a machine of the namespace asks for. Hosts for which overcommits is true are overcommitted once no host has room, if
// the machine fits there alone.
func place(namespace string, wanted claim, hosts []placement.Candidate, overcommits map[string]bool) (claim, error) {
	hosts, err := placement.Permit(hosts, namespace, wanted.at.Driver, wanted.at.Host)
	if err != nil {
		return claim{}, err
	}
	host, err := placement.Choose(hosts, wanted.size, wanted.at.Driver, wanted.at.Host)
	if errors.Is(err, machine.ErrNoCapacity) {
		for i := range hosts {
			if overcommits[hosts[i].Name] {
				hosts[i].Allocated.Resources = machine.Resources{}
			}
		}
		host, err = placement.Choose(hosts, wanted.size, wanted.at.Driver, wanted.at.Host)
	}
	return claim{kube.Placement{Driver: wanted.at.Driver, Host: host}, wanted.size}, err
}

// withoutRoom turns a decision to create a machine into one to wait until its host has room.
func withoutRoom(vm *cloudnativev1alpha1.VirtualMachine, decided decision, err error, now time.Time) decision {
	failure := &cloudnativev1alpha1.StartFailure{
		Count: 1, Reason: cloudnativev1alpha1.ReasonNoCapacity, RetryAfter: new(metav1.NewTime(now.Add(recheckPlace).Truncate(time.Second))),
	}
	if vm.Status.StartFailure != nil {
		failure.Count = vm.Status.StartFailure.Count
	}
	decided.next, decided.failure, decided.trouble = nil, failure, status.Clip(err.Error(), maxReason)
	decided.phase, decided.outcome = cloudnativev1alpha1.PhasePending, notPlaced(err)
	return decided
}

// holdsRoom reports whether a machine claims its host's capacity. A machine that cannot be created does not, or it would keep others
// from the host; one that ended or was lost does, if it is started or created again.
func holdsRoom(exists bool, failure *cloudnativev1alpha1.StartFailure, strategy cloudnativev1alpha1.RunStrategy) bool {
	if exists || failure == nil {
		return true
	}
	recreated := strategy == cloudnativev1alpha1.RunAlways || strategy == cloudnativev1alpha1.RunRerunOnFailure
	return ended(failure.Reason) && recreated
}

// recordedRoom reports whether the machine claims its host's capacity, as its status tells.
func recordedRoom(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return holdsRoom(wasMade(vm), vm.Status.StartFailure, strategyOf(vm))
}

// wasMade reports whether the machine was made, as its status tells.
func wasMade(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return vm.Status.Server != nil && vm.Status.Server.ID != ""
}

// hasNoPlace reports whether the error says that no host can take a machine.
func hasNoPlace(err error) bool {
	return errors.Is(err, machine.ErrNoHost) || errors.Is(err, machine.ErrNotAllowed) || errors.Is(err, machine.ErrNoCapacity) ||
		errors.Is(err, machine.ErrUnreachable)
}

// notPlaced says why a machine has no host.
func notPlaced(err error) flow.Outcome {
	switch {
	case errors.Is(err, machine.ErrNoHost):
		return flow.Stall(cloudnativev1alpha1.ReasonHostNotConfigured, err)
	case errors.Is(err, machine.ErrNotAllowed):
		return flow.Stall(cloudnativev1alpha1.ReasonHostNotAllowed, err)
	case errors.Is(err, machine.ErrNoCapacity):
		return flow.Wait(cloudnativev1alpha1.ReasonNoCapacity, "a host with room: "+err.Error(), recheckPlace)
	case errors.Is(err, machine.ErrUnreachable):
		return flow.Wait(cloudnativev1alpha1.ReasonDriverUnreachable, "a host to answer: "+err.Error(), recheckPlace)
	default:
		return flow.Fail(err)
	}
}
