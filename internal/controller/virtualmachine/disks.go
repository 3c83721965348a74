// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
)

// keptDisks returns the names of the disks that a driver must not make again.
func keptDisks(vm *cloudnativev1alpha1.VirtualMachine, now time.Time) []string {
	var out []string
	for i := range vm.Status.Disks {
		if disk := &vm.Status.Disks[i]; !canRemake(vm, disk, now) {
			out = append(out, disk.Name)
		}
	}
	return out
}

// canRemake reports whether the spec allows the disk to be made again. A time that has not come allows nothing yet: it would go on to
// allow it for disks that are recorded later.
func canRemake(vm *cloudnativev1alpha1.VirtualMachine, disk *cloudnativev1alpha1.MadeDisk, now time.Time) bool {
	before := vm.Spec.RemakeDisksBefore
	return before != nil && !now.Before(before.Time) && disk.RecordedAt.Before(before)
}

// recordOf returns the record of the disks of a machine that exists. What allowed disks to be made again counts no more.
func recordOf(vm *cloudnativev1alpha1.VirtualMachine, found *machine.Observed, now time.Time) []cloudnativev1alpha1.MadeDisk {
	out, at := slices.Clone(vm.Status.Disks), metav1.NewTime(now.Truncate(time.Second))
	for i := range out {
		if canRemake(vm, &out[i], now) {
			out[i].RecordedAt = at
		}
	}
	for _, name := range found.Disks {
		if !slices.ContainsFunc(out, func(d cloudnativev1alpha1.MadeDisk) bool { return d.Name == name }) {
			out = append(out, cloudnativev1alpha1.MadeDisk{Name: name, RecordedAt: at})
		}
	}
	slices.SortFunc(out, func(a, b cloudnativev1alpha1.MadeDisk) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(len(out), cloudnativev1alpha1.MaxMadeDisks)]
}

// isRecorded reports whether the record has the disks of a machine that exists. Before that it must not start: its guest could write to
// a disk that would be made again.
func isRecorded(vm *cloudnativev1alpha1.VirtualMachine, found *machine.Observed, now time.Time) bool {
	return equality.Semantic.DeepEqual(vm.Status.Disks, recordOf(vm, found, now))
}
