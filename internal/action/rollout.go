// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

const (
	// restartedAt is the annotation of a pod template by which kubectl restarts pods.
	restartedAt = "kubectl.kubernetes.io/restartedAt"
	// revisionAnnotation has the number of a ReplicaSet among those of its Deployment.
	revisionAnnotation = "deployment.kubernetes.io/revision"
)

// RestartDeployment replaces all pods, as "kubectl rollout restart" does.
func RestartDeployment(of *appsv1.Deployment, now time.Time) error {
	if of.Spec.Paused {
		return pausedRollout()
	}
	stampRestart(&of.Spec.Template, now)
	return nil
}

// RestartPodSet does the same for a PodSet.
func RestartPodSet(of *appsv1alpha1.PodSet, now time.Time) error {
	if of.Spec.Paused {
		return pausedRollout()
	}
	if of.Spec.Template == nil {
		of.Spec.Template = appsv1alpha1.DefaultTemplate()
	}
	stampRestart(of.Spec.Template, now)
	return nil
}

func pausedRollout() error {
	return refuse(rolloutPaused, "The rollout is paused, so no pod would be replaced. Resume it first.")
}

func stampRestart(template *corev1.PodTemplateSpec, now time.Time) {
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[restartedAt] = now.UTC().Format(time.RFC3339)
}

// HoldDeployment pauses or resumes the rollout of a Deployment.
func HoldDeployment(of *appsv1.Deployment, hold bool) { of.Spec.Paused = hold }

// HoldPodSet pauses or resumes the rollout of a PodSet.
func HoldPodSet(of *appsv1alpha1.PodSet, hold bool) { of.Spec.Paused = hold }

// RollbackRequest asks for an earlier template.
type RollbackRequest struct {
	// ToRevision is the number of a revision.
	ToRevision int64 `json:"toRevision,omitempty" minimum:"0" doc:"Revision to go back to, as in the annotation deployment.kubernetes.io/revision of its ReplicaSet. The default is the newest one whose template differs from the present one" example:"2"`
}

// RollbackDeployment gives a Deployment the template of one of its ReplicaSets, as "kubectl rollout undo" does.
func RollbackDeployment(of *appsv1.Deployment, sets []appsv1.ReplicaSet, want RollbackRequest) error {
	if of.Spec.Paused {
		return pausedRollout()
	}
	template, err := revisionOf(of, sets, want.ToRevision)
	if err != nil {
		return err
	}
	of.Spec.Template = *template
	return nil
}

// RollbackPodSet gives a PodSet the template of one of the ReplicaSets of its Deployment, without what Windlass adds to it.
func RollbackPodSet(of *appsv1alpha1.PodSet, child *appsv1.Deployment, sets []appsv1.ReplicaSet, want RollbackRequest) error {
	switch {
	case of.Spec.Paused:
		return pausedRollout()
	case !metav1.IsControlledBy(child, of):
		return refuse(noRevision, "The Deployment of this name does not belong to the PodSet.")
	}
	template, err := revisionOf(child, sets, want.ToRevision)
	if err != nil {
		return err
	}
	delete(template.Labels, appsv1alpha1.LabelApp)
	delete(template.Labels, appsv1alpha1.LabelPodSet)
	if len(template.Labels) == 0 {
		template.Labels = nil
	}
	if of.Spec.NodePool != "" {
		template.Spec.RuntimeClassName = nil
	}
	of.Spec.Template = template
	return nil
}

// revisionOf returns the template of a revision of the Deployment.
func revisionOf(of *appsv1.Deployment, sets []appsv1.ReplicaSet, number int64) (*corev1.PodTemplateSpec, error) {
	own := slices.DeleteFunc(slices.Clone(sets), func(set appsv1.ReplicaSet) bool { return !metav1.IsControlledBy(&set, of) })
	slices.SortFunc(own, func(a, b appsv1.ReplicaSet) int { return cmp.Compare(numberOf(&b), numberOf(&a)) })
	for i := range own {
		template := own[i].Spec.Template.DeepCopy()
		delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		same := equality.Semantic.DeepEqual(template, &of.Spec.Template)
		switch {
		case number == 0 && same, number != 0 && numberOf(&own[i]) != number:
			continue
		case same:
			return nil, NothingToDo(fmt.Sprintf("The template is that of revision %d already.", number))
		default:
			return template, nil
		}
	}
	if number == 0 {
		return nil, refuse(noRevision, "There is no earlier revision.")
	}
	return nil, refuse(noRevision, fmt.Sprintf("There is no revision %d.", number))
}

func numberOf(set *appsv1.ReplicaSet) int64 {
	number, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0 // a ReplicaSet that its controller has not numbered yet
	}
	return number
}
