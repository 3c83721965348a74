// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// behind is a client whose cache shows a PodSet as it was.
type behind struct {
	client.Client

	podSet *appsv1alpha1.PodSet
}

// Get implements client.Reader.
func (b *behind) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if podSet, ok := into.(*appsv1alpha1.PodSet); ok {
		b.podSet.DeepCopyInto(podSet)
		return nil
	}
	return b.Client.Get(ctx, key, into, options...)
}

// A manager was restarted. Its watch of Deployments had caught up when that of PodSets had not, so that it took back what the manager before had
// done for the present spec: pods were deleted, and created again.
func TestAnOldPodSetTakesNothingBack(t *testing.T) {
	for sentence, change := range map[string]func(*appsv1alpha1.PodSet){
		"another size":     func(p *appsv1alpha1.PodSet) { p.Spec.Size = 5 },
		"another template": withTemplate,
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet()
			old := podSet.DeepCopy()
			s.edit(podSet, change)
			want := s.deployment("web").Spec

			s.r = New(&behind{Client: s.Client, podSet: old}, s.Live, s.Events, s.Clock.Now, "")
			before := s.Writes()
			for range 2 {
				if result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(podSet)); err != nil || result.RequeueAfter == 0 {
					t.Errorf("the pass ends with %+v and %v, want to look again", result, err)
				}
			}
			got := s.deployment("web").Spec
			if *got.Replicas != *want.Replicas || got.Template.Spec.Containers[0].Image != want.Template.Spec.Containers[0].Image || s.Writes() != before {
				t.Errorf("%d writes, and the Deployment is %+v", s.Writes()-before, got)
			}
		})
	}
}

// TestScaledIsNotTold has somebody annotate the PodSet while its Deployment is scaled, so that the status has to be written again. The Deployment has the
// size by then, and nothing told of it.
func TestScaledIsNotTold(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet()
	s.Events.Take()
	s.r.client = testkit.Meanwhile(s.Client, func(runtime.ApplyConfiguration) {
		testkit.Edit(t, s.Harness, podSet.DeepCopy(), func(p *appsv1alpha1.PodSet) { p.Annotations = map[string]string{"mine": "too"} })
	})
	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.Size = 5 })
	s.wantEvents("Scaled")
}
