// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/machine"
)

// TestCreationsAreMeasuredOnce does not run beside others: the histogram is one per process.
func TestCreationsAreMeasuredOnce(t *testing.T) {
	noon := metav1.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	begin := func(edit func(*scope)) *scope {
		vm := &cloudnativev1alpha1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Generation: 1, CreationTimestamp: noon}}
		pass := &scope{Pass: flow.NewPass(vm, noon.Add(7*time.Second))}
		pass.seen.found = &machine.Observed{State: machine.StateRunning}
		pass.seen.at.Driver = machine.DriverSimulated
		edit(pass)
		return pass
	}
	creations.Reset()
	measureCreation(begin(func(*scope) {}))
	for name, pass := range map[string]*scope{
		"a machine that does not exist": begin(func(s *scope) { s.seen.found = nil }),
		"a machine that is off":         begin(func(s *scope) { s.seen.found.State = machine.StateStopped }),
		"another spec":                  begin(func(s *scope) { s.Object.Generation = 2 }),
		"a machine that was seen running": begin(func(s *scope) {
			s.Before.Status.Server = &cloudnativev1alpha1.Server{State: stateText(machine.StateRunning)}
		}),
		"a machine that ran before": begin(func(s *scope) { s.Before.Status.Server = &cloudnativev1alpha1.Server{StartedAt: &noon} }),
	} {
		measureCreation(pass)
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(creations)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, metric := range families[0].GetMetric() {
			got[metric.GetLabel()[0].GetValue()+" count"] = float64(metric.GetHistogram().GetSampleCount())
			got[metric.GetLabel()[0].GetValue()+" sum"] = metric.GetHistogram().GetSampleSum()
		}
		if diff := cmp.Diff(map[string]float64{"simulated count": 1, "simulated sum": 7}, got); diff != "" {
			t.Errorf("%s counts as well (-want +got):\n%s", name, diff)
		}
	}
}
