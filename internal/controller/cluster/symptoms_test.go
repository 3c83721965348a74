// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"
	"testing"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// TestAFinalizerThatWasNotRemovedRepeatsNoRemoval is about the article's endless loop: each pass whose last write failed removed the
// cluster again.
func TestAFinalizerThatWasNotRemovedRepeatsNoRemoval(t *testing.T) {
	s := newStage(t)
	s.create()
	s.becomes(status.Ready, "True")
	s.delete()
	s.until("the removal has ended", func() bool {
		last := s.cluster.Status.LastOperation
		return last.Action == clusterprovisionerv1alpha1.ActionRemove && last.EndTime != nil
	})
	// What a pass leaves that dies, or fails, between forgetting the runs and writing the object.
	if err := s.runner.Forget(t.Context(), string(s.cluster.UID)); err != nil {
		t.Fatal(err)
	}
	s.restart()
	s.gone()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

func TestAClusterThatSomebodyElseHoldsIsRemovedOnce(t *testing.T) {
	const foreign = "example.com/held"
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = []string{foreign} })
	s.becomes(status.Ready, "True")
	s.delete()
	s.until("only the other finalizer is left", func() bool { return slices.Equal(s.cluster.Finalizers, []string{foreign}) })
	s.restart()
	s.settled()
	if got := s.calls(); got != "1 up, 1 remove" {
		t.Errorf("the tool was called for %q", got)
	}
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = nil })
	s.gone()
}

func TestAClusterWithoutAKubeconfigIsNotHealthy(t *testing.T) {
	s := newStage(t)
	s.remove("source")
	s.create()
	s.becomes(clusterprovisionerv1alpha1.ConditionProvisioned, "True")
	s.settled()
	if s.is(status.Ready, "True") || s.is(clusterprovisionerv1alpha1.ConditionHealthy, "True") {
		t.Errorf("conditions are %v", s.cluster.Status.Conditions)
	}
}

func TestAVersionThatIsUnknownEmptiesNoAnnotation(t *testing.T) {
	s := newStage(t)
	s.create()
	s.becomes(status.Ready, "True")
	want := s.cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation]
	s.restart() // its prober has asked nobody so far
	s.pass()
	if got := s.cluster.Annotations[clusterprovisionerv1alpha1.VersionAnnotation]; got != want || want == "" {
		t.Errorf("the annotation is %q, and was %q", got, want)
	}
}

func TestWhatStallsIsToldOnce(t *testing.T) {
	s := newStage(t)
	s.remove("cluster.yml")
	s.create()
	s.becomes(status.Stalled, "True ConfigNotFound: file ")
	s.settled()
	mine := 0
	for _, e := range s.Events.Take() {
		if e.Reason == clusterprovisionerv1alpha1.ReasonConfigNotFound {
			mine++
		}
	}
	if mine != 1 {
		t.Errorf("it was told %d times that there is no configuration", mine)
	}
}
