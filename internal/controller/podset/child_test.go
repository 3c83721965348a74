// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/patch"
)

// aPodSet returns a PodSet "web" of three pods, changed as asked.
func aPodSet(change ...func(*appsv1alpha1.PodSet)) *appsv1alpha1.PodSet {
	podSet := &appsv1alpha1.PodSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid-web", Generation: 1},
		Spec:       appsv1alpha1.PodSetSpec{Size: 3},
	}
	for _, c := range change {
		c(podSet)
	}
	return podSet
}

func TestDesiredDeployment(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		podSet *appsv1alpha1.PodSet
		look   func(*appsv1.Deployment) any
		want   any
	}{
		"without a template the pods sleep for an hour in busybox": {
			podSet: aPodSet(),
			look:   func(d *appsv1.Deployment) any { return d.Spec.Template.Spec.Containers },
			want: []corev1.Container{{
				Name: "podset", Image: "busybox", Command: []string{"sleep", "3600"},
				Ports: []corev1.ContainerPort{{Name: "podset", ContainerPort: 1234, Protocol: corev1.ProtocolTCP}},
			}},
		},
		"labels of the template stay beside the PodSet's": {
			podSet: aPodSet(withTemplate, func(p *appsv1alpha1.PodSet) {
				p.Spec.Template.Labels = map[string]string{"tier": "front"}
			}),
			look: func(d *appsv1.Deployment) any { return d.Spec.Template.Labels },
			want: map[string]string{"app": "podSet", "podSet_cr": "web", "tier": "front"},
		},
		"a node pool becomes the runtime class": {
			podSet: aPodSet(func(p *appsv1alpha1.PodSet) { p.Spec.NodePool = "batch" }),
			look:   func(d *appsv1.Deployment) any { return *d.Spec.Template.Spec.RuntimeClassName },
			want:   "batch",
		},
		"what the API server would add to the strategy is written out": {
			podSet: aPodSet(func(p *appsv1alpha1.PodSet) {
				p.Spec.Strategy = &appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge: new(intstr.FromInt32(1)),
				}}
			}),
			look: func(d *appsv1.Deployment) any { return d.Spec.Strategy },
			want: appsv1.DeploymentStrategy{
				Type: "RollingUpdate",
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromString("25%")),
				},
			},
		},
		"recreating knows no steps": {
			podSet: aPodSet(func(p *appsv1alpha1.PodSet) {
				p.Spec.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
			}),
			look: func(d *appsv1.Deployment) any { return d.Spec.Strategy },
			want: appsv1.DeploymentStrategy{Type: "Recreate"},
		},
		"everything that a Deployment has too is passed on": {
			podSet: aPodSet(func(p *appsv1alpha1.PodSet) {
				p.Spec.MinReadySeconds = 5
				p.Spec.ProgressDeadlineSeconds = new(int32(30))
				p.Spec.RevisionHistoryLimit = new(int32(0))
				p.Spec.Paused = true
			}),
			look: func(d *appsv1.Deployment) any {
				return []any{d.Spec.MinReadySeconds, *d.Spec.ProgressDeadlineSeconds, *d.Spec.RevisionHistoryLimit, d.Spec.Paused}
			},
			want: []any{int32(5), int32(30), int32(0), true},
		},
		"no pods is a number too": {
			podSet: aPodSet(sized(0)),
			look:   func(d *appsv1.Deployment) any { return *d.Spec.Replicas },
			want:   int32(0),
		},
		"the PodSet is the owner in control": {
			podSet: aPodSet(),
			look:   func(d *appsv1.Deployment) any { return d.OwnerReferences },
			want: []metav1.OwnerReference{{
				APIVersion: "apps.jicki.cn/v1alpha1", Kind: "PodSet", Name: "web", UID: "uid-web",
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.look(deploymentOf(t, tt.podSet))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheHashOfADeploymentIsStable(t *testing.T) {
	t.Parallel()
	first := deploymentOf(t, aPodSet(withTemplate)).Annotations[patch.AppliedHashAnnotation]
	for range 20 {
		if again := deploymentOf(t, aPodSet(withTemplate)).Annotations[patch.AppliedHashAnnotation]; again != first {
			t.Fatalf("the hash of the same PodSet went from %s to %s", first, again)
		}
	}
	if other := deploymentOf(t, aPodSet(withTemplate, sized(4))).Annotations[patch.AppliedHashAnnotation]; other == first {
		t.Error("PodSets of different sizes have the same hash")
	}
}

func withTemplate(p *appsv1alpha1.PodSet) {
	p.Spec.Template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29", Env: []corev1.EnvVar{{Name: "A", Value: "1"}}}},
	}}
}

func sized(size int32) func(*appsv1alpha1.PodSet) {
	return func(p *appsv1alpha1.PodSet) { p.Spec.Size = size }
}

// deploymentOf returns the desired Deployment as the API server would store it, without its defaults.
func deploymentOf(t *testing.T, podSet *appsv1alpha1.PodSet) *appsv1.Deployment {
	t.Helper()
	desired, err := desiredDeployment(podSet)
	if err != nil {
		t.Fatal(err)
	}
	pass := &scope{seen: &observation{}}
	if err := pass.learn(action{child: desired}); err != nil {
		t.Fatal(err)
	}
	return pass.seen.deployment
}
