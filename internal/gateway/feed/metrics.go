// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	streamsOpen = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "windlass_gateway_streams", Help: "Open event streams.",
	})
	streamResyncs = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "windlass_gateway_stream_resyncs_total", Help: "Streams that fell behind and were sent a new snapshot.",
	})
	storedObjects = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_gateway_objects", Help: "Objects that the gateway keeps in memory, by kind.",
	}, []string{"kind"})
	storedBytes = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_gateway_object_bytes", Help: "Bytes of the objects that the gateway keeps in memory, by kind, as JSON. What is kept beside the JSON is less than as much again.",
	}, []string{"kind"})
	journalBytes = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "windlass_gateway_journal_bytes", Help: "Bytes of the changes that the gateway keeps in memory for streams that resume.",
	})
)

func init() {
	metrics.Registry.MustRegister(streamsOpen, streamResyncs, storedObjects, storedBytes, journalBytes)
}
