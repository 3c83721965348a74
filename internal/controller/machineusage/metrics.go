// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
)

const (
	// staleAfter is the number of periods after which a sample is no longer shown: an old figure looks like a new one.
	staleAfter = 4
	// listTimeout bounds the reading of the cache during a scrape.
	listTimeout = 5 * time.Second
)

// figures describe the metrics of machines, which have two labels each and disappear with the object.
type figures struct {
	info, phase, cpuSeconds, cpuCores, cpuLimit, memory, memoryLimit, age, hostUp *prometheus.Desc

	writes prometheus.Counter
}

func newFigures() figures {
	desc := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"namespace", "name"}, more...), nil)
	}
	return figures{
		info:        desc("windlass_vm_info", "Driver and host of a machine. Always 1.", "driver", "host"),
		phase:       desc("windlass_vm_phase", "Phase of a VirtualMachine. Always 1.", "phase"),
		cpuSeconds:  desc("windlass_vm_cpu_seconds_total", "CPU time that a machine has used since it was started."),
		cpuCores:    desc("windlass_vm_cpu_usage_cores", "CPU cores that a machine uses, between the last two samples."),
		cpuLimit:    desc("windlass_vm_cpu_limit_cores", "CPU limit of a machine in cores, 0 for none."),
		memory:      desc("windlass_vm_memory_working_set_bytes", "Working set of a machine."),
		memoryLimit: desc("windlass_vm_memory_limit_bytes", "Memory limit of a machine, 0 for none."),
		age:         desc("windlass_vm_sample_age_seconds", "Age of the last sample of a machine."),
		hostUp: prometheus.NewDesc("windlass_vm_host_up", "1 while a host answers, 0 while it does not.",
			[]string{"host"}, nil),
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "windlass_vm_usage_status_writes_total",
			Help: "Number of times usage was written into the status of a VirtualMachine.",
		}),
	}
}

// collector publishes the figures of a Sampler. A scrape has no context, so list has that of the Sampler's Start.
type collector struct {
	*Sampler

	list func() ([]cloudnativev1alpha1.VirtualMachine, error)
}

func (s *Sampler) collector(ctx context.Context) collector {
	return collector{Sampler: s, list: func() ([]cloudnativev1alpha1.VirtualMachine, error) {
		limited, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		var list cloudnativev1alpha1.VirtualMachineList
		err := s.client.List(limited, &list, client.UnsafeDisableDeepCopy)
		return list.Items, err
	}}
}

// Describe implements prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	f := c.figures
	for _, desc := range []*prometheus.Desc{
		f.info, f.phase, f.cpuSeconds, f.cpuCores, f.cpuLimit, f.memory, f.memoryLimit, f.age, f.hostUp,
	} {
		out <- desc
	}
	f.writes.Describe(out)
	c.calls.Describe(out)
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	c.figures.writes.Collect(out)
	c.calls.Collect(out)
	objects, err := c.list()
	if err != nil {
		c.log.Error(err, "Cannot list VirtualMachines for the metrics")
	}
	c.collectHosts(out, objects)
	c.collectMachines(out, objects)
}

func (c collector) collectHosts(out chan<- prometheus.Metric, objects []cloudnativev1alpha1.VirtualMachine) {
	for _, state := range c.fleet.Hosts() {
		if !state.Health.Probed || isMissedByNobody(state, objects) {
			continue
		}
		up := 0.0
		if state.Health.Err == nil {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(c.figures.hostUp, prometheus.GaugeValue, up, state.Host.Name)
	}
}

// isMissedByNobody reports whether the host is the engine of this machine that nobody has configured, which has never answered, and has no machine.
// A Pod has no such engine, and an alert about it would never end.
func isMissedByNobody(state fleet.HostState, objects []cloudnativev1alpha1.VirtualMachine) bool {
	if answered := state.Health.Err == nil || state.Health.Info.Driver != ""; answered || !state.Host.Assumed {
		return false
	}
	for i := range objects {
		if kube.PlacementOf(&objects[i]).Host == state.Host.Name {
			return false
		}
	}
	return true
}

func (c collector) collectMachines(out chan<- prometheus.Metric, objects []cloudnativev1alpha1.VirtualMachine) {
	samples := c.samples()
	for i := range objects {
		vm := &objects[i]
		gauge := func(desc *prometheus.Desc, value float64, more ...string) {
			labels := append([]string{vm.Namespace, vm.Name}, more...)
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
		}
		if at := kube.PlacementOf(vm); at.Host != "" {
			gauge(c.figures.info, 1, at.Driver, at.Host)
		}
		if vm.Status.Phase != "" {
			gauge(c.figures.phase, 1, string(vm.Status.Phase))
		}
		last, ok := samples[vm.UID]
		if !ok {
			continue
		}
		age := c.now().Sub(last.counters.At).Abs() // the clock of the host can be ahead
		gauge(c.figures.age, age.Seconds())
		if age > staleAfter*c.period {
			continue
		}
		out <- prometheus.MustNewConstMetric(c.figures.cpuSeconds, prometheus.CounterValue, last.counters.CPU.Seconds(), vm.Namespace, vm.Name)
		gauge(c.figures.memory, float64(last.counters.MemoryBytes))
		gauge(c.figures.cpuLimit, float64(last.counters.Limits.MilliCPU)/1000)
		gauge(c.figures.memoryLimit, float64(last.counters.Limits.MemoryBytes))
		if last.measured {
			gauge(c.figures.cpuCores, last.usage.CPUCores)
		}
	}
}

// samples returns the last sample of every machine by UID.
func (s *Sampler) samples() map[types.UID]sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[types.UID]sample{}
	for _, machines := range s.byHost {
		maps.Copy(out, machines)
	}
	return out
}
