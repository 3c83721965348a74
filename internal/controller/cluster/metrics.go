// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// listTimeout bounds the reading of the cache during a scrape.
const listTimeout = 5 * time.Second

// Metrics have no series per Cluster.
var durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "windlass_cluster_run_duration_seconds",
	Help: "Duration of runs of provisioning tools that have ended, by operation (up, remove) and outcome (succeeded, failed, interrupted). " +
		"A run whose end nobody saw lasts until its end is noticed.",
	Buckets: []float64{1, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200},
}, []string{"operation", "outcome"})

func init() {
	metrics.Registry.MustRegister(durations)
	// A series that begins with its first event hides that event from rate().
	for _, operation := range []provision.Action{provision.Up, provision.Remove} {
		for _, outcome := range []provision.Phase{provision.Succeeded, provision.Failed, provision.Interrupted} {
			durations.WithLabelValues(label(operation), label(outcome))
		}
	}
}

func label[T ~string](value T) string { return strings.ToLower(string(value)) }

// measure counts and traces the run whose end the status says now. A pass whose status was not written is repeated, and counts then.
func measure(pass *scope) {
	last := pass.Object.Status.LastOperation
	if pass.finished == nil || last == nil || last.StartTime == nil || last.EndTime == nil {
		return
	}
	run := pass.finished
	took := max(last.EndTime.Sub(last.StartTime.Time), 0) // clocks can be set back
	durations.WithLabelValues(label(run.Action), label(run.Phase)).Observe(took.Seconds())
	traced := tracing.Run{
		Cluster: pass.Object.Name, ID: run.ID, Tool: pass.seen.tool.Name, Operation: label(run.Action), Outcome: label(run.Phase),
		Problem: last.Reason, ExitCode: run.ExitCode, StartedAt: last.StartTime.Time, EndedAt: last.EndTime.Time,
	}
	traced.Record()
}

// runs counts, whenever the metrics are read, the runs that are under way, and the Clusters that wait for others' runs to end.
type runs struct {
	list  func() ([]clusterprovisionerv1alpha1.Cluster, error)
	slots int
	log   logr.Logger

	count, limit *prometheus.Desc
}

// Runs returns the metrics of runs as the cache shows them until ctx ends, of which that many can be under way.
func Runs(ctx context.Context, reader client.Reader, slots int, log logr.Logger) prometheus.Collector {
	return &runs{
		list: func() ([]clusterprovisionerv1alpha1.Cluster, error) {
			limited, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			var clusters clusterprovisionerv1alpha1.ClusterList
			err := reader.List(limited, &clusters, client.UnsafeDisableDeepCopy)
			return clusters.Items, err
		},
		slots: slots, log: log,
		count: prometheus.NewDesc("windlass_cluster_runs",
			"Runs of provisioning tools by state: running, or waiting for a slot. Only the leader serves it.", []string{"state"}, nil),
		limit: prometheus.NewDesc("windlass_cluster_run_slots",
			"How many runs of provisioning tools can be under way at the same time. Only the leader serves it.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (r *runs) Describe(out chan<- *prometheus.Desc) { out <- r.count; out <- r.limit }

// Collect implements [prometheus.Collector].
func (r *runs) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(r.limit, prometheus.GaugeValue, float64(r.slots))
	clusters, err := r.list()
	if err != nil {
		r.log.Error(err, "Cannot list Clusters for the metrics")
		return
	}
	running, waiting := 0, 0
	for i := range clusters {
		of := &clusters[i].Status
		if of.LastOperation != nil && of.LastOperation.EndTime == nil {
			running++
		}
		if at := apimeta.FindStatusCondition(of.Conditions, status.Reconciling); at != nil && at.Reason == clusterprovisionerv1alpha1.ReasonQueued {
			waiting++
		}
	}
	out <- prometheus.MustNewConstMetric(r.count, prometheus.GaugeValue, float64(running), "running")
	out <- prometheus.MustNewConstMetric(r.count, prometheus.GaugeValue, float64(waiting), "waiting")
}
