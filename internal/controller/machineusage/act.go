// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"context"
	"fmt"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	cloudnativev1alpha1ac "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1/applyconfiguration/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
)

// fieldOwner owns the usage, so that writing it never conflicts with writing the rest of the status.
const fieldOwner = client.FieldOwner("windlass-usage")

// write applies the usage and nothing else.
func (s *Sampler) write(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine, usage machine.Usage) error {
	desired := cloudnativev1alpha1ac.VirtualMachine(vm.Name, vm.Namespace).WithUID(vm.UID).
		WithStatus(cloudnativev1alpha1ac.VirtualMachineStatus().
			WithServer(cloudnativev1alpha1ac.Server().
				WithUsage(cloudnativev1alpha1ac.Usage().
					WithCPU(rounded(usage.CPUPercent, 1)).
					WithMemory(rounded(usage.MemoryPercent, 1)).
					WithCPUCores(rounded(usage.CPUCores, 4)).
					WithMemoryBytes(usage.MemoryBytes).
					WithSampledAt(metav1.NewTime(usage.SampledAt.Truncate(time.Second))))))
	err := s.client.Status().Apply(ctx, desired, fieldOwner, client.ForceOwnership, client.DisableReadYourWritesConsistency)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the object is gone, or another object has its name
	}
	if err != nil {
		return fmt.Errorf("cannot write the usage of VirtualMachine %q: %w", client.ObjectKeyFromObject(vm), err)
	}
	s.figures.writes.Inc()
	return nil
}

// clear removes the usage and nothing else. An object that has changed meanwhile is left to the next sample.
func (s *Sampler) clear(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine) error {
	cleared := vm.DeepCopy()
	cleared.Status.Server.Usage = nil
	from := client.MergeFromWithOptions(vm, client.MergeFromWithOptimisticLock{})
	err := s.client.Status().Patch(ctx, cleared, from, fieldOwner, client.DisableReadYourWritesConsistency)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot remove the usage of VirtualMachine %q: %w", client.ObjectKeyFromObject(vm), err)
	}
	s.figures.writes.Inc()
	return nil
}

// rounded rounds to so many decimals: people read these values in a table. Values that JSON cannot express become zero.
func rounded(value float64, decimals int) cloudnativev1alpha1.Percent {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	scale := math.Pow10(decimals)
	return cloudnativev1alpha1.Percent(math.Round(value*scale) / scale)
}
