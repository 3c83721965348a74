// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Metrics are per pool and never per node or pod.
var evictions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "windlass_nodepool_evictions_total",
	Help: "Evictions that drains have asked for, by pool and outcome: evicted, refused (a disruption budget said no), gone " +
		"(the pod was not there any more), failed. A pod whose eviction is refused is asked for again.",
}, []string{"pool", "outcome"})

func init() { metrics.Registry.MustRegister(evictions) }

// countEviction counts an answer of the API server.
func countEviction(pool string, err error) {
	outcome := "failed"
	switch {
	case err == nil:
		outcome = "evicted"
	case apierrors.IsTooManyRequests(err):
		outcome = "refused"
	case gone(err):
		outcome = "gone"
	}
	evictions.WithLabelValues(pool, outcome).Inc()
}

// gone reports whether there is no pod to evict: it is gone, or another one has its name by now.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// dropMetrics takes a pool that is gone off the metrics.
func dropMetrics(pool string) { evictions.DeletePartialMatch(prometheus.Labels{"pool": pool}) }
