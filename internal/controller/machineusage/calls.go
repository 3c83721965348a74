// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Calls measures the calls of drivers. There are few hosts, as configured, and few kinds of calls.
type Calls struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
}

// NewCalls returns Calls without measurements.
func NewCalls() *Calls {
	return &Calls{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "windlass_vm_driver_call_duration_seconds",
			Help:    "Duration of calls to the driver of a host, including failed ones.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 300},
		}, []string{"host", "call"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "windlass_vm_driver_call_errors_total",
			Help: "Failed calls to the driver of a host, by kind of error. A machine that does not exist is not an error.",
		}, []string{"host", "call", "kind"}),
	}
}

// Measure records one call.
func (c *Calls) Measure(host, call string, took time.Duration, err error) {
	c.seconds.WithLabelValues(host, call).Observe(took.Seconds())
	if kind := machine.KindOf(err); kind != "" {
		c.errors.WithLabelValues(host, call, kind).Inc()
	}
}

// Describe implements prometheus.Collector.
func (c *Calls) Describe(out chan<- *prometheus.Desc) {
	c.seconds.Describe(out)
	c.errors.Describe(out)
}

// Collect implements prometheus.Collector.
func (c *Calls) Collect(out chan<- prometheus.Metric) {
	c.seconds.Collect(out)
	c.errors.Collect(out)
}
