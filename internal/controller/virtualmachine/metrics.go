// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Metrics of hosts: there are few of them, as configured, and few calls.
var (
	callSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "windlass_vm_driver_call_duration_seconds",
		Help:    "How long calls to the driver of a host took, failed ones included.",
		Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 300},
	}, []string{"host", "call"})
	callErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "windlass_vm_driver_call_errors_total",
		Help: "Calls to the driver of a host that failed, by kind of error. That a machine is not there is no error.",
	}, []string{"host", "call", "kind"})
	hostUp = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_vm_host_up",
		Help: "1 while a host answers, 0 while it does not.",
	}, []string{"host"})
	orphanCount = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_vm_orphans",
		Help: "Machines of this installation on a host that no VirtualMachine stands for, as of the last sweep.",
	}, []string{"host"})
	usageWrites = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "windlass_vm_usage_status_writes_total",
		Help: "How often usage was written into the status of a VirtualMachine.",
	})
)

func init() { metrics.Registry.MustRegister(callSeconds, callErrors, hostUp, orphanCount, usageWrites) }

// Metrics of machines, two labels each and gone with the object.
var (
	ofMachine = []string{"namespace", "name"}

	descInfo   = prometheus.NewDesc("windlass_vm_info", "Where a machine is. Always 1.", append(ofMachine, "driver", "host"), nil)
	descPhase  = prometheus.NewDesc("windlass_vm_phase", "The phase that a VirtualMachine is in. Always 1.", append(ofMachine, "phase"), nil)
	descCPU    = prometheus.NewDesc("windlass_vm_cpu_seconds_total", "Processor time that a machine has used since it was started.", ofMachine, nil)
	descCores  = prometheus.NewDesc("windlass_vm_cpu_usage_cores", "Processors that were busy for a machine between the last two samples.", ofMachine, nil)
	descLimit  = prometheus.NewDesc("windlass_vm_cpu_limit_cores", "Processors that a machine has, 0 for no limit.", ofMachine, nil)
	descMemory = prometheus.NewDesc("windlass_vm_memory_working_set_bytes", "Memory that cannot be taken from a machine without harm.", ofMachine, nil)
	descMemMax = prometheus.NewDesc("windlass_vm_memory_limit_bytes", "Memory that a machine has, 0 for no limit.", ofMachine, nil)
	descAge    = prometheus.NewDesc("windlass_vm_sample_age_seconds", "How old the counters of a machine are.", ofMachine, nil)
)

// Describe implements prometheus.Collector.
func (s *sampler) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{descInfo, descPhase, descCPU, descCores, descLimit, descMemory, descMemMax, descAge} {
		out <- desc
	}
}

// Collect implements prometheus.Collector. A sample that has become stale is left out but for its age: an old figure looks like a
// new one.
func (s *sampler) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for key, known := range s.byKey {
		if known.at.host != "" {
			gauge(descInfo, 1, key.Namespace, key.Name, known.at.driver, known.at.host)
		}
		if known.phase != "" {
			gauge(descPhase, 1, key.Namespace, key.Name, string(known.phase))
		}
		if !known.sampled {
			continue
		}
		age := s.now().Sub(known.sample.At)
		gauge(descAge, age.Seconds(), key.Namespace, key.Name)
		if age > staleAfter*s.period {
			continue
		}
		out <- prometheus.MustNewConstMetric(descCPU, prometheus.CounterValue, known.sample.CPU.Seconds(), key.Namespace, key.Name)
		gauge(descMemory, float64(known.sample.MemoryBytes), key.Namespace, key.Name)
		gauge(descLimit, float64(known.sample.Limits.MilliCPU)/1000, key.Namespace, key.Name)
		gauge(descMemMax, float64(known.sample.Limits.MemoryBytes), key.Namespace, key.Name)
		if known.measured {
			gauge(descCores, known.usage.CPUCores, key.Namespace, key.Name)
		}
	}
}

// markHostUp publishes whether a host answers.
func markHostUp(host string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	hostUp.WithLabelValues(host).Set(value)
}

// measureCall publishes how a call of a driver went.
func measureCall(host, call string, took time.Duration, err error) {
	callSeconds.WithLabelValues(host, call).Observe(took.Seconds())
	if err != nil && !errors.Is(err, machine.ErrNotFound) {
		callErrors.WithLabelValues(host, call, kindOf(err)).Inc()
	}
}

// kindOf says in one word what kind of error it is.
func kindOf(err error) string {
	for _, kind := range []struct {
		err  error
		name string
	}{
		{machine.ErrUnreachable, "unreachable"},
		{machine.ErrConflict, "conflict"},
		{machine.ErrInvalid, "invalid"},
		{machine.ErrUnsupported, "unsupported"},
		{machine.ErrImageNotFound, "image_not_found"},
		{machine.ErrImagePull, "image_pull"},
		{machine.ErrNoCapacity, "no_capacity"},
		{machine.ErrBusy, "busy"},
		{machine.ErrRestartRequired, "restart_required"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, kind.err) {
			return kind.name
		}
	}
	return "other"
}
