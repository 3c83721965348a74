// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Metrics of creations have no series per machine. What a machine uses is measured by package machineusage.
var creations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "windlass_vm_creation_duration_seconds",
	Help: "Time from the creation of a VirtualMachine until its machine was first seen running, by driver. Objects whose spec was changed " +
		"before that do not count.",
	Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
}, []string{"driver"})

func init() {
	metrics.Registry.MustRegister(creations)
	// A series that begins with its first event hides that event from rate().
	for _, driver := range []string{machine.DriverDocker, machine.DriverLibvirt, machine.DriverSimulated} {
		creations.WithLabelValues(driver)
	}
}

// measureCreation counts a machine that the status calls running for the first time. Generation 1 is the spec of the creation: a
// machine that was off by its spec for a week and is switched on did not take a week to create.
func measureCreation(pass *scope) {
	found, vm := pass.seen.found, pass.Object
	if found == nil || found.State != machine.StateRunning || vm.Generation != 1 || ranBefore(pass) {
		return
	}
	creations.WithLabelValues(pass.seen.at.Driver).Observe(max(pass.Now.Sub(vm.CreationTimestamp.Time), 0).Seconds())
}

// ranBefore reports whether an earlier status has said that the machine was started.
func ranBefore(pass *scope) bool {
	was := pass.Before.Status.Server
	return was != nil && (was.StartedAt != nil || was.State == stateText(machine.StateRunning))
}
