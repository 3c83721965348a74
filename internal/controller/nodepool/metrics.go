// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics are per pool and never per node: a pool has few names, a cluster many nodes.
var (
	nodeCounts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_nodepool_nodes",
		Help: "Nodes of a pool by state: member, ready, synced, conflicted, shared, leaving. A node is in several states at once.",
	}, []string{"pool", "state"})
	conflictCounts = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "windlass_nodepool_conflicts",
		Help: "Keys of a pool that another pool or another owner holds on at least one node.",
	}, []string{"pool"})
)

func init() { metrics.Registry.MustRegister(nodeCounts, conflictCounts) }

// measure publishes what a pass has counted.
func measure(s *scope) {
	if s.seen == nil {
		return
	}
	nodes, name := s.seen.nodes, s.Object.Name
	for state, count := range map[string]int{
		"member": int(nodes.members), "ready": int(nodes.ready), "synced": int(nodes.members - nodes.unsynced),
		"conflicted": int(nodes.conflicted), "shared": int(nodes.shared), "leaving": len(nodes.leaving),
	} {
		nodeCounts.WithLabelValues(name, state).Set(float64(count))
	}
	conflictCounts.WithLabelValues(name).Set(float64(len(nodes.conflicts)))
}

// dropMetrics takes a pool that is gone off the metrics.
func dropMetrics(pool string) {
	nodeCounts.DeletePartialMatch(prometheus.Labels{"pool": pool})
	conflictCounts.DeleteLabelValues(pool)
}
