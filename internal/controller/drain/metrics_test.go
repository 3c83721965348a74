// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/event"
)

// silent takes events and tells nobody.
type silent struct{}

// Record implements event.Recorder.
func (silent) Record(...event.Event) {}

func TestEvictionsAreCountedByTheirAnswer(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	answers := map[string]error{
		"runs": nil, "protected": apierrors.NewTooManyRequests("a disruption budget says no", 0), "left": apierrors.NewNotFound(pods, "left"),
		"another": apierrors.NewConflict(pods, "another", errors.New("another UID")), "unlucky": apierrors.NewInternalError(errors.New("no etcd")),
	}
	r := &Reconciler{
		evict:    func(_ context.Context, pod *corev1.Pod) error { return answers[pod.Name] },
		recorder: silent{}, drains: &clearance.Drains{}, now: time.Now,
	}
	const pool = "pool-of-the-eviction-test"
	next := step{drain: drain{pool: &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}}}
	for name := range answers {
		next.evict = append(next.evict, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}})
	}
	if err := r.act(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(evictions)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if metric.GetLabel()[1].GetValue() == pool { // outcome, pool
				got[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"evicted": 1, "refused": 1, "gone": 2, "failed": 1}, got); diff != "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
}
