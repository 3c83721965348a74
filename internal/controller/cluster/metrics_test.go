// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// gathered returns the values of a collector's series, of a histogram its count and sum, by name and labels.
func gathered(t *testing.T, collector prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			words := []string{family.GetName()}
			for _, label := range metric.GetLabel() {
				words = append(words, label.GetValue())
			}
			name := strings.Join(words, " ")
			if of := metric.GetHistogram(); of != nil {
				out[name+" count"], out[name+" sum"] = float64(of.GetSampleCount()), of.GetSampleSum()
				continue
			}
			out[name] = metric.GetGauge().GetValue()
		}
	}
	return out
}

// TestEndedRunsAreMeasured does not run beside others: the histogram is one per process.
func TestEndedRunsAreMeasured(t *testing.T) {
	noon := metav1.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	end := func(finished *provision.Run, took time.Duration) *scope {
		object := &clusterprovisionerv1alpha1.Cluster{Status: clusterprovisionerv1alpha1.ClusterStatus{
			LastOperation: &clusterprovisionerv1alpha1.Operation{StartTime: &noon, EndTime: new(metav1.NewTime(noon.Add(took)))},
		}}
		return &scope{Pass: flow.NewPass(object, noon.Time), finished: finished, seen: &observation{}}
	}
	durations.Reset()
	measure(end(&provision.Run{Action: provision.Up, Phase: provision.Succeeded}, 90*time.Second))
	measure(end(&provision.Run{Action: provision.Up, Phase: provision.Succeeded}, 30*time.Second))
	measure(end(&provision.Run{Action: provision.Remove, Phase: provision.Failed}, -time.Hour)) // the clock was set back
	measure(end(nil, time.Hour))                                                                // the run goes on
	started := end(&provision.Run{Action: provision.Up, Phase: provision.Failed}, time.Hour)
	started.Object.Status.LastOperation = nil
	measure(started)

	const name = "windlass_cluster_run_duration_seconds"
	want := map[string]float64{
		name + " up succeeded count": 2, name + " up succeeded sum": 120, name + " remove failed count": 1, name + " remove failed sum": 0,
	}
	if diff := cmp.Diff(want, gathered(t, durations)); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
}

// listed is a cache with these Clusters, or with a problem.
type listed struct {
	client.Reader

	clusters []clusterprovisionerv1alpha1.Cluster
	problem  error
}

// List implements client.Reader.
func (l listed) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list, ok := into.(*clusterprovisionerv1alpha1.ClusterList)
	if !ok {
		return fmt.Errorf("%T is not what is listed", into)
	}
	list.Items = l.clusters
	return l.problem
}

func TestRunsAndQueueAreCounted(t *testing.T) {
	t.Parallel()
	running := clusterprovisionerv1alpha1.ClusterStatus{LastOperation: &clusterprovisionerv1alpha1.Operation{}}
	ended := clusterprovisionerv1alpha1.ClusterStatus{LastOperation: &clusterprovisionerv1alpha1.Operation{EndTime: new(metav1.Now())}}
	queued := clusterprovisionerv1alpha1.ClusterStatus{Conditions: []metav1.Condition{
		{Type: status.Reconciling, Status: metav1.ConditionTrue, Reason: clusterprovisionerv1alpha1.ReasonQueued},
	}}
	var clusters []clusterprovisionerv1alpha1.Cluster
	for _, of := range []clusterprovisionerv1alpha1.ClusterStatus{running, running, ended, queued, {}} {
		clusters = append(clusters, clusterprovisionerv1alpha1.Cluster{Status: of})
	}
	got := gathered(t, Runs(t.Context(), listed{clusters: clusters}, 3, logr.Discard()))
	want := map[string]float64{"windlass_cluster_run_slots": 3, "windlass_cluster_runs running": 2, "windlass_cluster_runs waiting": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	got = gathered(t, Runs(t.Context(), listed{problem: errors.New("no cache")}, 3, logr.Discard()))
	if diff := cmp.Diff(map[string]float64{"windlass_cluster_run_slots": 3}, got); diff != "" {
		t.Errorf("runs that cannot be read are left out (-want +got):\n%s", diff)
	}
}
