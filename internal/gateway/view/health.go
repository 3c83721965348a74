// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Health is whether an object works, and the reason if it does not.
type Health struct {
	// State of the object.
	State HealthState
	// Reason in one word, empty for an object that works.
	Reason string
}

// HealthState is whether an object works.
type HealthState string

// States of an object.
const (
	// HealthReady is an object that works, or whose kind has no such state.
	HealthReady HealthState = "ready"
	// HealthPending is an object that does not work yet, or is being deleted.
	HealthPending HealthState = "pending"
	// HealthFailed is an object that does not work.
	HealthFailed HealthState = "failed"
)

// notObserved is the health of an object that nobody has reported on yet: its kind has a controller, which has not, or does not run.
func notObserved() Health { return Health{HealthPending, "NotObserved"} }

// healthOf reads the health of an object from its status.
func healthOf(obj *unstructured.Unstructured) Health {
	if obj.GetDeletionTimestamp() != nil {
		return Health{HealthPending, "Deleting"}
	}
	switch obj.GetKind() {
	case kindNamespace, kindEvent:
		return Health{State: HealthReady}
	case kindPod:
		return podHealth(obj)
	case kindDeployment:
		if health := conditionHealth(obj, "Progressing", Health{}); health.State == HealthFailed {
			return health
		}
		return conditionHealth(obj, "Available", notObserved())
	case "ReplicaSet", "StatefulSet":
		return replicasHealth(obj)
	case "DaemonSet":
		return countedHealth(obj, numberAt(obj, "status.desiredNumberScheduled", 0), numberAt(obj, "status.numberReady", 0))
	case "Job":
		return jobHealth(obj)
	case "PersistentVolumeClaim":
		return claimHealth(obj)
	case kindNode, "NodePool", "PodSet", "PodBuggerTool", "VirtualMachine", "Cluster", "Kubeconfig":
		return conditionHealth(obj, "Ready", notObserved())
	default:
		return conditionHealth(obj, "Ready", Health{State: HealthReady})
	}
}

// conditionHealth reads one condition, or returns what an object is that does not have it.
func conditionHealth(obj *unstructured.Unstructured, name string, without Health) Health {
	for _, condition := range listAt(obj.Object, "status.conditions") {
		if textAt(condition, "type") != name {
			continue
		}
		reason := textAt(condition, "reason")
		switch metav1.ConditionStatus(textAt(condition, "status")) {
		case metav1.ConditionTrue:
			return Health{State: HealthReady}
		case metav1.ConditionUnknown:
			return Health{HealthPending, orElse(reason, "Unknown")}
		default:
			return Health{HealthFailed, orElse(reason, "Not"+name)}
		}
	}
	return without
}

// replicasHealth is the health of what has so many pods of a template.
func replicasHealth(obj *unstructured.Unstructured) Health {
	if failure := trueCondition(obj, "ReplicaFailure"); failure != nil {
		return Health{HealthFailed, orElse(textAt(failure, "reason"), "ReplicaFailure")}
	}
	return countedHealth(obj, numberAt(obj, "spec.replicas", 1), numberAt(obj, "status.readyReplicas", 0))
}

// countedHealth is the health of what wants so many pods and has so many that are ready.
func countedHealth(obj *unstructured.Unstructured, wanted, ready int64) Health {
	switch {
	case numberAt(obj, "status.observedGeneration", 0) < obj.GetGeneration():
		return notObserved()
	case ready < wanted:
		return Health{HealthPending, "PodsUnavailable"}
	default:
		return Health{State: HealthReady}
	}
}

// jobHealth is the health of a Job, which works while its pods do.
func jobHealth(obj *unstructured.Unstructured) Health {
	if trueCondition(obj, "Complete") != nil || trueCondition(obj, "SuccessCriteriaMet") != nil {
		return Health{State: HealthReady}
	}
	for _, name := range []string{"Failed", "FailureTarget"} {
		if failure := trueCondition(obj, name); failure != nil {
			return Health{HealthFailed, orElse(textAt(failure, "reason"), "JobFailed")}
		}
	}
	suspended, _ := at(obj.Object, "spec.suspend").(bool)
	switch {
	case suspended:
		return Health{HealthPending, "JobSuspended"}
	case textAt(obj.Object, "status.startTime") == "":
		return notObserved()
	case numberAt(obj, "status.ready", 0) < numberAt(obj, "status.active", 0):
		return Health{HealthPending, "PodsUnavailable"}
	default:
		return Health{State: HealthReady}
	}
}

func claimHealth(obj *unstructured.Unstructured) Health {
	switch phase := corev1.PersistentVolumeClaimPhase(textAt(obj.Object, "status.phase")); phase {
	case corev1.ClaimBound:
		return Health{State: HealthReady}
	case corev1.ClaimLost:
		return Health{HealthFailed, string(phase)}
	default:
		return Health{HealthPending, string(corev1.ClaimPending)}
	}
}

func podHealth(obj *unstructured.Unstructured) Health {
	phase := corev1.PodPhase(textAt(obj.Object, "status.phase"))
	switch phase {
	case corev1.PodSucceeded:
		return Health{State: HealthReady}
	case corev1.PodFailed:
		return Health{HealthFailed, orElse(textAt(obj.Object, "status.reason"), string(phase))}
	case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown: // their containers tell more
	}
	for _, path := range []string{"status.initContainerStatuses", "status.containerStatuses"} {
		for _, container := range listAt(obj.Object, path) {
			reason := textAt(container, "state.waiting.reason")
			if reason != "" && reason != "ContainerCreating" && reason != "PodInitializing" {
				return Health{HealthFailed, reason}
			}
		}
	}
	if phase == corev1.PodPending {
		scheduled := conditionHealth(obj, string(corev1.PodScheduled), Health{})
		return Health{HealthPending, orElse(scheduled.Reason, string(phase))}
	}
	return conditionHealth(obj, string(corev1.PodReady), Health{State: HealthReady})
}

// trueCondition returns the condition if it is true, and nil otherwise.
func trueCondition(obj *unstructured.Unstructured, name string) map[string]any {
	for _, condition := range listAt(obj.Object, "status.conditions") {
		if textAt(condition, "type") == name && textAt(condition, "status") == string(metav1.ConditionTrue) {
			return condition
		}
	}
	return nil
}

// numberAt returns the number at the path, or what it is by default.
func numberAt(obj *unstructured.Unstructured, path string, byDefault int64) int64 {
	if number, ok := at(obj.Object, path).(int64); ok {
		return number
	}
	return byDefault
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
