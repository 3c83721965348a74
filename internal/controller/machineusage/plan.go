// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"hash/fnv"
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	// coarsePoints and coarseAge say when usage is written again. The age is extended by up to a fifth, differently for each
	// machine, so that a thousand machines that were created together are not written together from then on.
	coarsePoints = 10
	coarseAge    = 5 * time.Minute
)

// follow returns the sample after earlier, and whether it replaces it. A sample that comes too soon after the earlier one does
// not. One from before it does: the clock of the host was set back, and until that time has come again nothing could be measured.
func follow(earlier sample, known bool, later machine.Sample, host machine.Resources) (sample, bool) {
	if !known {
		return sample{counters: later}, true
	}
	usage, measured := machine.Measure(earlier.counters, later, host)
	before := earlier.counters
	if !measured && later.Boot == before.Boot && !later.At.Before(before.At) && later.CPU >= before.CPU {
		return earlier, false
	}
	return sample{counters: later, usage: usage, measured: measured}, true
}

// due reports whether the usage has to be written into the status of vm.
func due(mode Mode, vm *cloudnativev1alpha1.VirtualMachine, usage machine.Usage) bool {
	server := vm.Status.Server
	running := server != nil && strings.EqualFold(server.State, string(machine.StateRunning))
	if mode == Off || vm.DeletionTimestamp != nil || !running {
		return false
	}
	if mode == Every || server.Usage == nil || server.Usage.SampledAt == nil {
		return true
	}
	moved := math.Abs(float64(server.Usage.CPU)-usage.CPUPercent) >= coarsePoints ||
		math.Abs(float64(server.Usage.Memory)-usage.MemoryPercent) >= coarsePoints
	return moved || usage.SampledAt.Sub(server.Usage.SampledAt.Time).Abs() >= coarseAge+spread(vm.UID)
}

// outdated reports whether the status of vm shows usage that nobody writes any more.
func outdated(mode Mode, vm *cloudnativev1alpha1.VirtualMachine) bool {
	return mode == Off && vm.Status.Server != nil && vm.Status.Server.Usage != nil
}

// spread returns a part of a fifth of coarseAge, always the same one for a machine.
func spread(uid types.UID) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(uid))
	return time.Duration(sum.Sum32()%1000) * coarseAge / 5000
}
