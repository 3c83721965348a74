// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
)

// MachineHostField is the index field that finds VirtualMachines by the host of their machines. It is empty for objects without a
// host.
const MachineHostField = "virtualmachine.host"

// Placement is the recorded place of a machine. Its zero value means that nothing was recorded.
type Placement struct{ Driver, Host string }

// String returns the placement as "driver/host".
func (p Placement) String() string { return p.Driver + "/" + p.Host }

// PlacementOf returns where the machine of vm is, as the status says. The right to edit vm does not include it.
func PlacementOf(vm *cloudnativev1alpha1.VirtualMachine) Placement {
	if server := vm.Status.Server; server != nil && server.Host != "" {
		return Placement{Driver: string(server.Driver), Host: server.Host}
	}
	return Placement{}
}

// IsTentative reports whether vm has a place and nothing was created there, as the status says. Objects of earlier versions do not.
func IsTentative(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return PlacementOf(vm).Host != "" && vm.Status.Server.Tentative
}

// MachineUIDOf returns the UID under which the host knows the machine of vm: that which the status names, after a restore from a backup, or that
// of vm. The right to edit vm does not include the status.
func MachineUIDOf(vm *cloudnativev1alpha1.VirtualMachine) types.UID {
	if server := vm.Status.Server; server != nil && server.UID != "" {
		return types.UID(server.UID)
	}
	return vm.UID
}

// FormerPlacementOf returns where an earlier version recorded the machine of vm: in an annotation, which editors can write, so it is
// a hint and no more.
func FormerPlacementOf(vm *cloudnativev1alpha1.VirtualMachine) Placement {
	driver, host, _ := strings.Cut(vm.Annotations[cloudnativev1alpha1.PlacementAnnotation], "/")
	return Placement{Driver: driver, Host: host}
}

// AddMachineIndexes registers the cache index of VirtualMachines by host.
func AddMachineIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &cloudnativev1alpha1.VirtualMachine{}, MachineHostField, func(object client.Object) []string {
		vm, ok := object.(*cloudnativev1alpha1.VirtualMachine)
		if !ok {
			return nil
		}
		return []string{PlacementOf(vm).Host}
	})
	if err != nil {
		return fmt.Errorf("cannot index VirtualMachines by host: %w", err)
	}
	return nil
}
