// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// withSelectorsOfEverything keeps pods off the nodes of all others of their kind, in every namespace.
func withSelectorsOfEverything(p *appsv1alpha1.PodSet) {
	p.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{},
		}},
	}}
}

// withEmptyObjects has an empty object in each field that may have one.
func withEmptyObjects(p *appsv1alpha1.PodSet) {
	withSelectorsOfEverything(p)
	spec := &p.Spec.Template.Spec
	spec.SecurityContext, spec.DNSConfig = &corev1.PodSecurityContext{}, &corev1.PodDNSConfig{}
	spec.Affinity.PodAffinity, spec.Affinity.NodeAffinity = &corev1.PodAffinity{}, &corev1.NodeAffinity{}
	spec.Volumes = []corev1.Volume{
		{Name: "empty", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "downward", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}},
		{Name: "projected", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
	}
	spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{},
	}}
	container := &spec.Containers[0]
	container.Lifecycle = &corev1.Lifecycle{}
	container.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{}, SELinuxOptions: &corev1.SELinuxOptions{}}
}

// The API server keeps each of them. One that it left out would be applied in each pass.
func TestEmptyObjectsAreAtRest(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, withEmptyObjects)
	s.wantConditions(podSet, map[string]string{"Stalled": "False NotStalled: "})
	decided, err := planDeployment(podSet, s.deployment("web"))
	if err != nil || len(decided.actions) != 0 {
		t.Errorf("there are %d actions for what was just applied, %v", len(decided.actions), err)
	}
}

// An empty selector selects everything, and none selects nothing.
func TestASelectorOfEverythingThatSomebodyTakesAwayComesBack(t *testing.T) {
	for sentence, change := range map[string]func(*corev1.PodAffinityTerm){
		"that of pods":       func(term *corev1.PodAffinityTerm) { term.LabelSelector = nil },
		"that of namespaces": func(term *corev1.PodAffinityTerm) { term.NamespaceSelector = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet(withTemplate, withSelectorsOfEverything)
			want := s.deployment("web").Spec
			testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
				change(&d.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
			})
			s.settle(podSet)
			if diff := cmp.Diff(want, s.deployment("web").Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

// The pods had a directory of their node in place of an empty one. A volume has one source, so that the PodSet's is refused beside the other.
func TestAnEmptyDirectoryThatSomebodyReplacesIsToldOf(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	})
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
	})
	s.settle(podSet)
	stalled := apimeta.FindStatusCondition(podSet.Status.Conditions, status.Stalled)
	if stalled.Reason != appsv1alpha1.ReasonChildRefused || !strings.Contains(stalled.Message, "spec.template.spec.volumes[0].hostPath") {
		t.Errorf("Stalled is %s %s: %s", stalled.Status, stalled.Reason, stalled.Message)
	}
}

// Init containers run one after the other, and $(NAME) means a variable that comes before.
func TestAnOrderThatSomebodyChangesComesBack(t *testing.T) {
	for sentence, change := range map[string]func(*corev1.PodSpec){
		"of init containers": func(spec *corev1.PodSpec) { slices.Reverse(spec.InitContainers) },
		"of variables":       func(spec *corev1.PodSpec) { slices.Reverse(spec.Containers[0].Env) },
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
				spec := &p.Spec.Template.Spec
				for _, name := range []string{"c", "a", "b"} {
					spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: name, Image: "busybox"})
					spec.Containers[0].Env = append(spec.Containers[0].Env, corev1.EnvVar{Name: name, Value: "$(A)"})
				}
			})
			want := s.deployment("web").Spec
			s.Events.Take()
			testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) { change(&d.Spec.Template.Spec) })
			s.settle(podSet)
			if diff := cmp.Diff(want, s.deployment("web").Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			s.wantEvents("DriftRepaired")
		})
	}
}

// What others have put between stays there.
func TestAnInitContainerOfSomebodyElseIsNoDrift(t *testing.T) {
	s := newStage(t)
	podSet := s.podSet(withTemplate, func(p *appsv1alpha1.PodSet) {
		p.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "a", Image: "busybox"}, {Name: "b", Image: "busybox"}}
	})
	s.Events.Take()
	testkit.Edit(t, s.Harness, s.deployment("web"), func(d *appsv1.Deployment) {
		spec := &d.Spec.Template.Spec
		spec.InitContainers = slices.Insert(spec.InitContainers, 1, corev1.Container{Name: "injected", Image: "proxy"})
	})
	want := s.deployment("web").Spec
	s.settle(podSet)
	if diff := cmp.Diff(want, s.deployment("web").Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	s.wantEvents()
}
