// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-operator/windlass/internal/membership"
)

// Metrics are per pool and never per node: a pool has few names, a cluster many nodes.
var (
	patches = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "windlass_nodepool_node_patches_total",
		Help: "Patches of nodes, by the pool that they were for. A patch for two pools counts for both.",
	}, []string{"pool"})
	drifts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "windlass_nodepool_drift_repairs_total",
		Help: "Patches that put back what another writer had changed on a node, by pool.",
	}, []string{"pool"})
	conflicts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "windlass_nodepool_node_conflicts_total",
		Help: "Patches of nodes that were refused because the node had changed in the meantime, and planned anew, by pool.",
	}, []string{"pool"})
	latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "windlass_nodepool_apply_seconds",
		Help:    "Time from the moment at which a node was first seen to lack something of a pool until it was patched, by pool.",
		Buckets: []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300},
	}, []string{"pool"})
)

func init() { metrics.Registry.MustRegister(patches, drifts, conflicts, latency) }

// joining remembers since when each node has been waiting for something of a pool. It holds only nodes that wait.
type joining struct {
	mu    sync.Mutex
	since map[string]waiting // by node
}

type waiting struct {
	uid   types.UID
	pools []string
	since time.Time
}

// observe notes which pools the node waits for, none if it waits for nothing, and returns since when it has been waiting.
func (j *joining) observe(node *corev1.Node, pools []string, now time.Time) time.Time {
	if len(pools) == 0 {
		j.drop(node.Name)
		return time.Time{}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.since == nil {
		j.since = map[string]waiting{}
	}
	before, waits := j.since[node.Name]
	if !waits || before.uid != node.UID {
		before.since = now
	}
	j.since[node.Name] = waiting{uid: node.UID, pools: pools, since: before.since}
	return before.since
}

// drop forgets a node that waits for nothing, or is gone.
func (j *joining) drop(node string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.since, node)
}

// applied measures how long the node has waited.
func (j *joining) applied(node string, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	waited, ok := j.since[node]
	if !ok {
		return
	}
	delete(j.since, node)
	for _, pool := range waited.pools {
		latency.WithLabelValues(pool).Observe(now.Sub(waited.since).Seconds())
	}
}

// count counts a plan that has been carried out.
func count(plan *membership.Plan) {
	for _, pool := range plan.Pending {
		patches.WithLabelValues(pool).Inc()
		if len(plan.Drift) > 0 {
			drifts.WithLabelValues(pool).Inc()
		}
	}
}

// countConflict counts a plan that came too late.
func countConflict(plan *membership.Plan) {
	for _, pool := range plan.Pending {
		conflicts.WithLabelValues(pool).Inc()
	}
}

// dropMetrics takes a pool that is gone off the metrics.
func dropMetrics(pool string) {
	for _, of := range []interface{ DeleteLabelValues(values ...string) bool }{patches, drifts, conflicts, latency} {
		of.DeleteLabelValues(pool)
	}
}
