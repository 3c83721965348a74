// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machineusage

import (
	"context"
	"errors"
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
	if err != nil && !errors.Is(err, machine.ErrNotFound) {
		c.errors.WithLabelValues(host, call, kindOf(err)).Inc()
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

// kindOf returns the kind of an error as a label.
func kindOf(err error) string {
	for _, kind := range []struct {
		err  error
		name string
	}{
		{machine.ErrUnreachable, "unreachable"},
		{machine.ErrConflict, "conflict"},
		{machine.ErrDiskMismatch, "disk_mismatch"},
		{machine.ErrDiskLost, "disk_lost"},
		{machine.ErrInvalid, "invalid"},
		{machine.ErrUnsupported, "unsupported"},
		{machine.ErrImageNotFound, "image_not_found"},
		{machine.ErrImagePull, "image_pull"},
		{machine.ErrNoCapacity, "no_capacity"},
		{machine.ErrBusy, "busy"},
		{machine.ErrOff, "off"},
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
