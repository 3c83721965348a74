// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// Causes that keep pods from being created.
const (
	// CodeQuota is for pods that a ResourceQuota does not allow.
	CodeQuota Code = "QuotaExceeded"
	// CodeAdmission is for pods that an admission policy or a webhook refuses.
	CodeAdmission Code = "AdmissionRefused"
)

// Deployment explains why the pods of a Deployment are not all available.
func Deployment(of *appsv1.Deployment) *Explanation {
	w := newWalk(ObjectOf(kindDeployment, of))
	w.observed(kindDeployment, of, of.Status.ObservedGeneration)
	w.check(checkPodsCreatable, func() *finding { return uncreated(of) })
	w.check(checkRolloutNotPaused, func() *finding { return paused(of) })
	w.check(checkRolloutProgresses, func() *finding {
		if c := conditionOf(of, appsv1.DeploymentProgressing); c != nil && c.Status == corev1.ConditionFalse {
			return blameDeployment(of, c, c.Message)
		}
		return nil
	})
	w.check(checkPodsCurrentAndAvailable, func() *finding { return unfinished(of) })
	w.check(checkNotDeleted, func() *finding { return leaving(kindDeployment, of) })
	return w.end(fmt.Sprintf("All pods of Deployment %s are available", of.Name))
}

// uncreated is the cause if the ReplicaSet cannot create pods: what the API server has said to it.
func uncreated(of *appsv1.Deployment) *finding {
	failure := conditionOf(of, appsv1.DeploymentReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return nil
	}
	found := blameDeployment(of, failure, failure.Message)
	found.code = refusalOf(failure.Message, found.code)
	return found
}

func paused(of *appsv1.Deployment) *finding {
	if !of.Spec.Paused || of.Status.UpdatedReplicas >= orOne(of.Spec.Replicas) {
		return nil
	}
	return &finding{
		code: appsv1alpha1.ReasonDeploymentPaused, message: "the rollout is paused, and not all pods run the current template",
		evidence: []Evidence{fact(kindDeployment, of, "spec.paused", "true")},
	}
}

func unfinished(of *appsv1.Deployment) *finding {
	size, counts := orOne(of.Spec.Replicas), of.Status
	switch {
	case counts.UpdatedReplicas < size:
		return rolling(of, fmt.Sprintf("%d of %d pods are not created from the current template yet", size-counts.UpdatedReplicas, size))
	case counts.AvailableReplicas < size:
		return rolling(of, fmt.Sprintf("%d of %d pods are not available", size-counts.AvailableReplicas, size))
	case counts.Replicas > size:
		return rolling(of, fmt.Sprintf("%d old pods have not ended yet", counts.Replicas-size))
	}
	return nil
}

func rolling(of *appsv1.Deployment, message string) *finding {
	return &finding{
		code: appsv1alpha1.ReasonRollingOut, message: message,
		evidence: []Evidence{fact(kindDeployment, of, "status.availableReplicas", strconv.Itoa(int(of.Status.AvailableReplicas)))},
	}
}

func conditionOf(of *appsv1.Deployment, wanted appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range of.Status.Conditions {
		if of.Status.Conditions[i].Type == wanted {
			return &of.Status.Conditions[i]
		}
	}
	return nil
}

func blameDeployment(of *appsv1.Deployment, condition *appsv1.DeploymentCondition, message string) *finding {
	field := fmt.Sprintf("status.conditions[%s]", condition.Type)
	return &finding{
		code: Code(condition.Reason), message: message,
		evidence: []Evidence{fact(kindDeployment, of, field, fmt.Sprintf("%s, %s", condition.Status, condition.Reason))},
	}
}
