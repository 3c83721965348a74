// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// listed is a cache with these PodSets, or with a problem.
type listed struct {
	client.Reader

	podSets []appsv1alpha1.PodSet
	problem error
}

// List implements client.Reader.
func (l listed) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list, ok := into.(*appsv1alpha1.PodSetList)
	if !ok {
		return fmt.Errorf("%T is not what is listed", into)
	}
	list.Items = l.podSets
	return l.problem
}

func gathered(t *testing.T, from listed) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(Placement(t.Context(), from, logr.Discard()))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			out[family.GetName()+" "+metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return out
}

func TestPodsOfAllPodSetsAreCounted(t *testing.T) {
	t.Parallel()
	a := appsv1alpha1.PodSet{Spec: appsv1alpha1.PodSetSpec{Size: 3}, Status: appsv1alpha1.PodSetStatus{
		Replicas: 4, UpdatedReplicas: 3, ReadyReplicas: 2, AvailableReplicas: 1, Placement: []appsv1alpha1.PodPlacement{{NodePool: "gold", Pods: 3}, {Pods: 1}},
	}}
	b := appsv1alpha1.PodSet{Spec: appsv1alpha1.PodSetSpec{Size: 1}, Status: appsv1alpha1.PodSetStatus{
		Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1, Placement: []appsv1alpha1.PodPlacement{{NodePool: "gold", Pods: 1}},
	}}
	want := map[string]float64{
		"windlass_podset_replicas desired": 4, "windlass_podset_replicas current": 5, "windlass_podset_replicas updated": 4,
		"windlass_podset_replicas ready": 3, "windlass_podset_replicas available": 2, "windlass_podset_pods gold": 4, "windlass_podset_pods ": 1,
	}
	if diff := cmp.Diff(want, gathered(t, listed{podSets: []appsv1alpha1.PodSet{a, b}})); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if got := gathered(t, listed{problem: errors.New("no cache")}); len(got) > 0 {
		t.Errorf("PodSets that cannot be read show as %v", got)
	}
}

// TestAttackPoolsInAStatusAreSeriesWithoutEnd has somebody who may write the status of PodSets invent names of pools.
func TestAttackPoolsInAStatusAreSeriesWithoutEnd(t *testing.T) {
	t.Parallel()
	var podSets []appsv1alpha1.PodSet
	for i := range 3 * maxPools {
		podSets = append(podSets, appsv1alpha1.PodSet{Status: appsv1alpha1.PodSetStatus{
			Placement: []appsv1alpha1.PodPlacement{{NodePool: fmt.Sprintf("pool-%d", i), Pods: 1}},
		}})
	}
	const states = 5
	if got := len(gathered(t, listed{podSets: podSets})); got != maxPools+states {
		t.Errorf("there are %d series, want %d", got, maxPools+states)
	}
}

func TestSizesOfAllPodSetsDoNotOverflow(t *testing.T) {
	t.Parallel()
	large := appsv1alpha1.PodSet{Spec: appsv1alpha1.PodSetSpec{Size: math.MaxInt32}}
	got := gathered(t, listed{podSets: []appsv1alpha1.PodSet{large, large}})
	if got["windlass_podset_replicas desired"] != 2*math.MaxInt32 {
		t.Errorf("%v pods are desired, want %d", got["windlass_podset_replicas desired"], 2*math.MaxInt32)
	}
}
