// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// TestALogThatCannotBeWrittenHoldsTheClusterForEver is about who can edit the ConfigMaps with the logs, or what refuses them: each pass failed at the end of
// the next run, and the Cluster could not even be deleted.
func TestALogThatCannotBeWrittenHoldsTheClusterForEver(t *testing.T) {
	lines := func(s *stage, suffix string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + suffix}}
	}
	written := func(runs string) func(*stage) {
		return func(s *stage) {
			live := lines(s, clusterprovisionerv1alpha1.LogSuffix)
			if !s.Get(s.t, live) {
				s.t.Fatal("there is no log")
			}
			live.Data["runs"], live.Data["log"] = runs, strings.Repeat("y\n", 20<<10)
			if err := s.Live.Update(s.t.Context(), live); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for name, spoil := range map[string]func(*stage){
		"an ID that no key takes": written(`[{"id":"up:1","action":"Up","phase":"Failed"}]`),
		"a long reason":           written(`[{"id":"up-1","action":"Up","phase":"Failed","reason":"` + strings.Repeat("x", 1<<20-40<<10-100) + `"}]`),
		"they are immutable": func(s *stage) {
			live := lines(s, clusterprovisionerv1alpha1.LogSuffix)
			if !s.Get(s.t, live) {
				s.t.Fatal("there is no log")
			}
			live.Immutable = new(true)
			if err := s.Live.Update(s.t.Context(), live); err != nil {
				s.t.Fatal(err)
			}
			data, err := provision.EncodeRunning(provision.Run{ID: "x", Phase: provision.Running, Log: "x"})
			if err != nil {
				s.t.Fatal(err)
			}
			published := lines(s, clusterprovisionerv1alpha1.RunningSuffix)
			published.Labels, published.Data, published.Immutable = labels(s.cluster), data, new(true)
			if s.Get(s.t, lines(s, clusterprovisionerv1alpha1.RunningSuffix)) {
				if err := s.Live.Delete(s.t.Context(), published); err != nil && !apierrors.IsNotFound(err) {
					s.t.Fatal(err)
				}
			}
			s.Create(s.t, published)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create()
			s.ready()
			s.settled()
			spoil(s)
			s.delete()
			s.gone()
			if got := s.calls(); got != "1 up, 1 remove" {
				t.Errorf("the tool was called for %q", got)
			}
		})
	}
}
