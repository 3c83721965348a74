// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var reads = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "windlass_gateway_reads_total", Help: "Lists and gets by where the answer came from: cache or server.",
}, []string{"from"})

func init() {
	metrics.Registry.MustRegister(reads)
}
