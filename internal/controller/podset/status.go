// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"errors"
	"fmt"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/status"
)

// progressDeadlineExceeded is the reason of a Deployment that made no progress for too long. It keeps trying.
const progressDeadlineExceeded = "ProgressDeadlineExceeded"

// declaration lists the conditions that Ready depends on. Where it is explained why the Deployment is not as it should be, the
// explanation decides, and what the Deployment reports is only shown.
func declaration(explained bool) status.Declaration {
	return status.Declaration{
		{Type: appsv1alpha1.ConditionChildConflict, Negative: true},
		{Type: appsv1alpha1.ConditionReplicaFailure, Negative: true, Info: explained},
		{Type: appsv1alpha1.ConditionProgressing, Info: explained},
		{Type: appsv1alpha1.ConditionAvailable, Info: explained},
	}
}

// describe writes what a pass has observed into the status of the PodSet and returns the marks of its conditions. Where the pass could
// not observe anything, the status stays and every condition is Unknown.
func describe(pass *scope, outcome flow.Outcome) *status.Marks {
	podSet, seen := pass.Object, pass.seen
	marks := declaration(seen != nil && seen.cause != nil).Begin()
	if seen != nil {
		own := ownDeployment(podSet, seen.deployment)
		count(podSet, *seen, own)
		markConflict(marks, pass.decision)
		mirror(marks, podSet, own, outcome)
		marks.Reach(status.ReasonReady, running(podSet.Spec.Size))
	}
	if podSet.Status.Nodes == nil {
		podSet.Status.Nodes = []string{} // required by the schema, which knows no null
	}
	return marks
}

// ownDeployment returns the Deployment if it is the PodSet's, else nil.
func ownDeployment(podSet *appsv1alpha1.PodSet, deployment *appsv1.Deployment) *appsv1.Deployment {
	if deployment == nil || !metav1.IsControlledBy(deployment, podSet) {
		return nil
	}
	return deployment
}

// count writes everything of the status except the conditions.
func count(podSet *appsv1alpha1.PodSet, seen observation, own *appsv1.Deployment) {
	shown := min(len(seen.pods), appsv1alpha1.MaxNodes)
	podSet.Status.Nodes = seen.pods[:shown]
	podSet.Status.NodesTruncated = shown < len(seen.pods)
	podSet.Status.Placement = seen.placement
	podSet.Status.Selector = podLabels(podSet.Name).String()

	var counts appsv1.DeploymentStatus
	if own != nil {
		counts = own.Status
	}
	podSet.Status.Replicas = counts.Replicas
	podSet.Status.ReadyReplicas = counts.ReadyReplicas
	podSet.Status.AvailableReplicas = counts.AvailableReplicas
	podSet.Status.UpdatedReplicas = counts.UpdatedReplicas
}

func markConflict(marks *status.Marks, decided decision) {
	if decided.conflict != "" {
		marks.True(appsv1alpha1.ConditionChildConflict, appsv1alpha1.ReasonNameTaken, decided.conflict)
		return
	}
	marks.False(appsv1alpha1.ConditionChildConflict, appsv1alpha1.ReasonNoConflict, "")
}

// mirror passes the Deployment's conditions on.
func mirror(marks *status.Marks, podSet *appsv1alpha1.PodSet, own *appsv1.Deployment, outcome flow.Outcome) {
	if own == nil || !observed(own) {
		reason, message := unobserved(own, outcome)
		marks.Unknown(appsv1alpha1.ConditionAvailable, reason, message)
		marks.Unknown(appsv1alpha1.ConditionProgressing, reason, message)
		marks.False(appsv1alpha1.ConditionReplicaFailure, appsv1alpha1.ReasonNoReplicaFailure, "")
		return
	}
	pending := appsv1.DeploymentCondition{
		Status: corev1.ConditionUnknown, Reason: appsv1alpha1.ReasonDeploymentPending,
		Message: "the Deployment does not have this condition yet",
	}
	progressing := pending
	if noDeadline(own) {
		// Without a deadline, the Deployment's controller never sets this condition.
		progressing = progress(podSet, own)
	}
	relay(marks, appsv1alpha1.ConditionAvailable, own, pending)
	relay(marks, appsv1alpha1.ConditionProgressing, own, progressing)
	relay(marks, appsv1alpha1.ConditionReplicaFailure, own, appsv1.DeploymentCondition{
		Status: corev1.ConditionFalse, Reason: appsv1alpha1.ReasonNoReplicaFailure,
	})
}

// unobserved says why there is nothing to pass on: what the Deployment itself waits for, if it is known.
func unobserved(own *appsv1.Deployment, outcome flow.Outcome) (reason, message string) {
	switch waits := outcome.Reason(); {
	case waits == appsv1alpha1.ReasonDeploymentTerminating, waits == status.ReasonPaused && own == nil:
		return waits, outcome.Message()
	case own != nil:
		return appsv1alpha1.ReasonDeploymentPending, "the Deployment controller has not observed the Deployment"
	}
	return appsv1alpha1.ReasonDeploymentPending, "the PodSet has no Deployment"
}

// relay marks the condition of that type as the Deployment has it, or as given where it has none.
func relay(marks *status.Marks, conditionType string, own *appsv1.Deployment, otherwise appsv1.DeploymentCondition) {
	condition := otherwise
	if found := find(own, conditionType); found != nil {
		condition = *found
	}
	switch condition.Status {
	case corev1.ConditionTrue:
		marks.True(conditionType, condition.Reason, condition.Message)
	case corev1.ConditionFalse:
		marks.False(conditionType, condition.Reason, condition.Message)
	default:
		marks.Unknown(conditionType, condition.Reason, condition.Message)
	}
}

func find(own *appsv1.Deployment, conditionType string) *appsv1.DeploymentCondition {
	for i := range own.Status.Conditions {
		if string(own.Status.Conditions[i].Type) == conditionType {
			return &own.Status.Conditions[i]
		}
	}
	return nil
}

// observed reports whether the Deployment's status is about its present spec.
func observed(own *appsv1.Deployment) bool { return own.Status.ObservedGeneration >= own.Generation }

// noDeadline reports whether the Deployment may take any time: for Kubernetes, the greatest number means never.
func noDeadline(own *appsv1.Deployment) bool {
	return or(own.Spec.ProgressDeadlineSeconds, math.MaxInt32) == math.MaxInt32
}

// progress is what the Deployment controller would report if the Deployment had a deadline.
func progress(podSet *appsv1alpha1.PodSet, own *appsv1.Deployment) appsv1.DeploymentCondition {
	reason := appsv1alpha1.ReasonRolledOut
	if missing(podSet.Spec.Size, own.Status) != "" {
		reason = appsv1alpha1.ReasonRollingOut
	}
	return appsv1.DeploymentCondition{Status: corev1.ConditionTrue, Reason: reason}
}

// rollout says what is still missing until the PodSet is as it should be, and if it is known, why. A Deployment that is not
// there yet, or not observed, shows in the conditions.
func rollout(podSet *appsv1alpha1.PodSet, seen observation) flow.Outcome {
	own := ownDeployment(podSet, seen.deployment)
	if own == nil || !observed(own) {
		return flow.Done()
	}
	stuck := find(own, appsv1alpha1.ConditionProgressing)
	if stuck != nil && stuck.Status == corev1.ConditionFalse && stuck.Reason == progressDeadlineExceeded {
		if seen.cause != nil {
			return flow.Stall(seen.cause.Reason, fmt.Errorf("%s; %s", seen.cause.Text, stuck.Message))
		}
		return flow.Stall(stuck.Reason, errors.New(stuck.Message))
	}
	if seen.cause != nil {
		return flow.Wait(seen.cause.Reason, shortfall(podSet.Spec.Size, own.Status)+": "+seen.cause.Text, 0)
	}
	if text := missing(podSet.Spec.Size, own.Status); text != "" {
		return flow.Wait(appsv1alpha1.ReasonRollingOut, text, 0)
	}
	return flow.Done()
}

// shortfall says how many pods do not start. Unlike missing, it does not mention old pods, which stay until the new ones start.
func shortfall(size int32, counts appsv1.DeploymentStatus) string {
	if counts.UpdatedReplicas < size {
		return missing(size, counts)
	}
	all := max(size, counts.Replicas)
	return fmt.Sprintf("%d of %d pods to be available", all-counts.AvailableReplicas, all)
}

// missing says, in the order in which a rollout goes, what an observed Deployment waits for; empty when complete.
func missing(size int32, counts appsv1.DeploymentStatus) string {
	switch {
	case counts.UpdatedReplicas < size:
		return fmt.Sprintf("%d of %d pods to be created from the current template", size-counts.UpdatedReplicas, size)
	case counts.Replicas > size:
		return fmt.Sprintf("%s to be removed", pods(counts.Replicas-size))
	case counts.AvailableReplicas < size:
		return fmt.Sprintf("%d of %d pods to be available", size-counts.AvailableReplicas, size)
	}
	return ""
}

// running says what a PodSet that lacks nothing has.
func running(size int32) string {
	switch size {
	case 0:
		return "spec.size is 0: the PodSet has no pods"
	case 1:
		return "1 pod is available"
	}
	return fmt.Sprintf("%d pods are available", size)
}

// pods is a number of pods in words.
func pods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
