// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// TestAServiceAccountThatIsDroppedStaysOnThePods is about the field "serviceAccount", which the API server fills in beside "serviceAccountName", and
// copies back from.
func TestAServiceAccountThatIsDroppedStaysOnThePods(t *testing.T) {
	named := func(name string) func(*appsv1alpha1.PodSet) {
		return func(p *appsv1alpha1.PodSet) { p.Spec.Template.Spec.ServiceAccountName = name }
	}
	aliased := func(name string) func(*appsv1alpha1.PodSet) {
		return func(p *appsv1alpha1.PodSet) { p.Spec.Template.Spec.DeprecatedServiceAccount = name }
	}
	for sentence, tt := range map[string]struct {
		before, after func(*appsv1alpha1.PodSet)
		want          string
	}{
		"it is dropped":                    {named("privileged"), named(""), ""},
		"its other name is dropped":        {aliased("privileged"), aliased(""), ""},
		"another one takes its place":      {named("a"), named("b"), "b"},
		"so it does under its other name":  {aliased("a"), aliased("b"), "b"},
		"it gets its usual name":           {aliased("a"), func(p *appsv1alpha1.PodSet) { aliased("")(p); named("b")(p) }, "b"},
		"the usual name wins over another": {func(p *appsv1alpha1.PodSet) { named("a")(p); aliased("b")(p) }, aliased("c"), "a"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet(withTemplate, tt.before)
			s.Events.Take()
			s.edit(podSet, tt.after)
			spec := s.deployment("web").Spec.Template.Spec
			if spec.ServiceAccountName != tt.want || spec.DeprecatedServiceAccount != tt.want {
				t.Errorf("the pods run as %q and %q, want %q", spec.ServiceAccountName, spec.DeprecatedServiceAccount, tt.want)
			}
			if slices.Contains(s.Events.Reasons(), appsv1alpha1.ReasonDriftRepaired) {
				t.Error("the PodSet's own ServiceAccount was reverted")
			}
		})
	}
}

// TestAVolumeWithoutASourceCanGetNoneLater is about the empty directory that the API server makes of it.
func TestAVolumeWithoutASourceCanGetNoneLater(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "none"}}
	})
	given := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}
	s.edit(podSet, func(p *appsv1alpha1.PodSet) { p.Spec.Template.Spec.Volumes[0].VolumeSource = given })
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	given.ConfigMap.DefaultMode = new(corev1.ConfigMapVolumeSourceDefaultMode)
	want := []corev1.Volume{{Name: "data", VolumeSource: given}, {Name: "none", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	if diff := cmp.Diff(want, s.deployment("web").Spec.Template.Spec.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
}
