// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Usage is what an object has used in the last hours.
type Usage struct {
	// Measured is false where nobody measures.
	Measured bool `json:"measured" doc:"Whether figures come: false for nodes and pools where nobody serves metrics.k8s.io, or the gateway may not read it"`
	// IntervalSeconds is how far apart points are.
	IntervalSeconds int `json:"intervalSeconds" doc:"How far apart points are at least"`
	// Incomplete is true where only the memory of the gateway is in the answer.
	Incomplete bool `json:"incomplete,omitempty" doc:"True if hours reaches further back than the gateway remembers, and Prometheus is not configured or does not answer"`
	// Current is the newest point.
	Current *UsagePoint `json:"current,omitempty" doc:"The newest point"`
	// Series are the points.
	Series []UsagePoint `json:"series" nullable:"false" doc:"The points, the oldest first: of the last three hours since the gateway has started, or of the hours that were asked for. Times without a figure are left out"`
}

// UsagePoint is what was used at a time.
type UsagePoint struct {
	Time        time.Time `json:"time" doc:"When it was measured, to the minute"`
	CPUCores    float64   `json:"cpuCores" doc:"Processors that were busy"`
	MemoryBytes int64     `json:"memoryBytes" doc:"Working set in bytes"`
	Objects     int       `json:"objects" doc:"How many nodes the point is the sum of; 1 for a machine or a node"`
}

// NodeMetrics is what metrics.k8s.io has of nodes. It is no kind of the API: its rights decide who reads the usage of nodes.
func NodeMetrics() Kind {
	return Kind{GVK: schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetrics"}, Plural: NodesPlural}
}
