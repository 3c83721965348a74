// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
)

// The defaults of the API server. They are set explicitly, because Windlass reverts only fields that it owns.
const (
	defaultProgressDeadlineSeconds = 600
	defaultRevisionHistoryLimit    = 10
	defaultRollingStep             = "25%"
)

// podLabels returns the labels that are on everything a PodSet owns, and that select its pods.
func podLabels(name string) labels.Set {
	return labels.Set{
		appsv1alpha1.LabelApp:    appsv1alpha1.LabelAppValue,
		appsv1alpha1.LabelPodSet: kube.LabelValue(name),
	}
}

// desiredDeployment returns the Deployment that the PodSet asks for, stamped with its hash.
func desiredDeployment(podSet *appsv1alpha1.PodSet) (*appsv1ac.DeploymentApplyConfiguration, error) {
	template, err := desiredTemplate(podSet)
	if err != nil {
		return nil, err
	}
	spec := appsv1ac.DeploymentSpec().
		WithReplicas(podSet.Spec.Size).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(podLabels(podSet.Name))).
		WithTemplate(template).
		WithStrategy(desiredStrategy(podSet.Spec.Strategy)).
		WithProgressDeadlineSeconds(or(podSet.Spec.ProgressDeadlineSeconds, defaultProgressDeadlineSeconds)).
		WithRevisionHistoryLimit(or(podSet.Spec.RevisionHistoryLimit, defaultRevisionHistoryLimit))
	// The API leaves these two out when they are zero, so that a zero would never be found in the live object.
	if podSet.Spec.MinReadySeconds != 0 {
		spec.WithMinReadySeconds(podSet.Spec.MinReadySeconds)
	}
	if podSet.Spec.Paused {
		spec.WithPaused(true)
	}

	deployment := appsv1ac.Deployment(podSet.Name, podSet.Namespace).
		WithLabels(podLabels(podSet.Name)).
		WithOwnerReferences(patch.Owner(podSet, appsv1alpha1.SchemeGroupVersion.WithKind(kindPodSet))).
		WithSpec(spec)
	hash, err := patch.Hash(deployment)
	if err != nil {
		return nil, err
	}
	return deployment.WithAnnotations(map[string]string{patch.AppliedHashAnnotation: hash}), nil
}

// desiredBudget returns the PodDisruptionBudget that the PodSet asks for, stamped with its hash, or nil.
func desiredBudget(podSet *appsv1alpha1.PodSet) (*policyv1ac.PodDisruptionBudgetApplyConfiguration, error) {
	if podSet.Spec.MinAvailable == nil {
		return nil, nil
	}
	budget := policyv1ac.PodDisruptionBudget(podSet.Name, podSet.Namespace).
		WithLabels(podLabels(podSet.Name)).
		WithOwnerReferences(patch.Owner(podSet, appsv1alpha1.SchemeGroupVersion.WithKind(kindPodSet))).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMinAvailable(*podSet.Spec.MinAvailable).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(podLabels(podSet.Name))))
	hash, err := patch.Hash(budget)
	if err != nil {
		return nil, err
	}
	return budget.WithAnnotations(map[string]string{patch.AppliedHashAnnotation: hash}), nil
}

// desiredTemplate returns the pod template with the PodSet's labels and pool.
func desiredTemplate(podSet *appsv1alpha1.PodSet) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	given := podSet.Spec.Template
	if given == nil {
		given = appsv1alpha1.DefaultTemplate()
	}
	template := corev1ac.PodTemplateSpec()
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("cannot read the template of %q: %w", podSet.Name, err)
	}
	if err := json.Unmarshal(raw, template); err != nil {
		return nil, fmt.Errorf("cannot read the template of %q: %w", podSet.Name, err)
	}
	template.WithLabels(podLabels(podSet.Name))
	if template.Spec == nil {
		template.WithSpec(corev1ac.PodSpec())
	}
	if podSet.Spec.NodePool != "" {
		template.Spec.WithRuntimeClassName(podSet.Spec.NodePool)
	}
	// Two names of one field, of which the API server fills in the one that is left out: only the one that wins is applied.
	if account := template.Spec.DeprecatedServiceAccount; account != nil && template.Spec.ServiceAccountName == nil {
		template.Spec.WithServiceAccountName(*account)
	}
	template.Spec.DeprecatedServiceAccount = nil
	// A volume without a source is an empty directory. What the API server adds has no owner: it would stay beside the source that comes next, and
	// the API server would reject both.
	for i := range given.Spec.Volumes {
		if given.Spec.Volumes[i].VolumeSource == (corev1.VolumeSource{}) {
			template.Spec.Volumes[i].WithEmptyDir(corev1ac.EmptyDirVolumeSource())
		}
	}
	return template, nil
}

// desiredStrategy returns the strategy with everything that the API server would add. What the API server adds has no
// owner: it would stay when the type changes to Recreate, and the API server would reject it.
func desiredStrategy(strategy *appsv1.DeploymentStrategy) *appsv1ac.DeploymentStrategyApplyConfiguration {
	var given appsv1.DeploymentStrategy
	if strategy != nil {
		given = *strategy
	}
	desired := appsv1ac.DeploymentStrategy().WithType(given.Type)
	if given.Type == "" {
		desired.WithType(appsv1.RollingUpdateDeploymentStrategyType)
	}
	if given.RollingUpdate == nil && *desired.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return desired
	}
	var step appsv1.RollingUpdateDeployment
	if given.RollingUpdate != nil {
		step = *given.RollingUpdate
	}
	return desired.WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
		WithMaxSurge(or(step.MaxSurge, intstr.FromString(defaultRollingStep))).
		WithMaxUnavailable(or(step.MaxUnavailable, intstr.FromString(defaultRollingStep))))
}

func or[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
