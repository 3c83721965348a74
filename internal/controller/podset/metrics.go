// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

const (
	// listTimeout bounds the reading of the cache during a scrape.
	listTimeout = 5 * time.Second
	// maxPools bounds the series: everybody who may write the status of a PodSet can put names of pools there.
	maxPools = 1000
)

// overview counts the pods of all PodSets whenever the metrics are read. It has no series per PodSet.
type overview struct {
	list func() ([]appsv1alpha1.PodSet, error)
	log  logr.Logger

	pods, replicas *prometheus.Desc
}

// Placement returns the metrics of PodSets as the cache shows them until ctx ends.
func Placement(ctx context.Context, reader client.Reader, log logr.Logger) prometheus.Collector {
	return &overview{
		list: func() ([]appsv1alpha1.PodSet, error) {
			limited, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			var podSets appsv1alpha1.PodSetList
			err := reader.List(limited, &podSets, client.UnsafeDisableDeepCopy)
			return podSets.Items, err
		},
		log: log,
		pods: prometheus.NewDesc("windlass_podset_pods",
			"Pods of all PodSets by the pool of their node; the pool is empty for nodes of no pool, and a pod on a node of two pools counts for both. "+
				"Only the leader serves it.", []string{"pool"}, nil),
		replicas: prometheus.NewDesc("windlass_podset_replicas",
			"Pods of all PodSets by state: desired, current, updated, ready, available. A pod is in several states at once. Only the leader serves it.",
			[]string{"state"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (p *overview) Describe(out chan<- *prometheus.Desc) { out <- p.pods; out <- p.replicas }

// Collect implements [prometheus.Collector].
func (p *overview) Collect(out chan<- prometheus.Metric) {
	podSets, err := p.list()
	if err != nil {
		p.log.Error(err, "Cannot list PodSets for the metrics")
		return
	}
	replicas, pools := map[string]int64{"desired": 0, "current": 0, "updated": 0, "ready": 0, "available": 0}, map[string]int64{}
	for i := range podSets {
		of := &podSets[i]
		for state, n := range map[string]int32{
			"desired": of.Spec.Size, "current": of.Status.Replicas, "updated": of.Status.UpdatedReplicas,
			"ready": of.Status.ReadyReplicas, "available": of.Status.AvailableReplicas,
		} {
			replicas[state] += int64(n)
		}
		for _, at := range of.Status.Placement {
			if _, known := pools[at.NodePool]; known || len(pools) < maxPools {
				pools[at.NodePool] += int64(at.Pods)
			}
		}
	}
	for state, n := range replicas {
		out <- prometheus.MustNewConstMetric(p.replicas, prometheus.GaugeValue, float64(n), state)
	}
	for pool, n := range pools {
		out <- prometheus.MustNewConstMetric(p.pods, prometheus.GaugeValue, float64(n), pool)
	}
}
