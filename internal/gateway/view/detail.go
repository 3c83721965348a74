// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
)

// Kinds of objects whose fields are read here.
const (
	kindNode       = "Node"
	kindPod        = "Pod"
	kindEvent      = "Event"
	kindNamespace  = "Namespace"
	kindDeployment = "Deployment"
)

// selectable returns the fields besides name and namespace that lists of the kind select by, as on the API server.
func selectable(kind string) []string {
	switch kind {
	case kindPod:
		return []string{"spec.nodeName", "status.phase", "spec.serviceAccountName"}
	case kindEvent:
		return []string{
			"involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid", "reason", "type",
		}
	default:
		return nil
	}
}

// fieldsBy returns the values of the fields that lists of the kind select by.
func fieldsBy(obj *unstructured.Unstructured) fields.Set {
	var out fields.Set
	for _, path := range selectable(obj.GetKind()) {
		if out == nil {
			out = fields.Set{}
		}
		out[path] = textAt(obj.Object, path)
	}
	return out
}

// happened returns the time that lists are sorted by: of an event when it was last seen, and of everything else when it was
// created.
func happened(obj *unstructured.Unstructured) time.Time {
	out := obj.GetCreationTimestamp().Time
	if obj.GetKind() != kindEvent {
		return out
	}
	for _, path := range []string{"eventTime", "lastTimestamp", "series.lastObservedTime"} {
		if at, err := time.Parse(time.RFC3339, textAt(obj.Object, path)); err == nil && at.After(out) {
			out = at
		}
	}
	return out
}

// findable returns what a search finds an object by besides its name and labels: images and addresses.
func findable(obj *unstructured.Unstructured) []string {
	var out []string
	for _, path := range []string{"spec.containers", "spec.template.spec.containers"} {
		for _, container := range listAt(obj.Object, path) {
			out = appendText(out, container, "image")
		}
	}
	for _, path := range []string{"spec.image", "spec.image.ref", "spec.clusterIP", "status.podIP", "spec.nodeName", "status.address"} {
		out = appendText(out, obj.Object, path)
	}
	for _, address := range listAt(obj.Object, "status.addresses") {
		out = appendText(out, address, "address")
	}
	return out
}

func appendText(to []string, object map[string]any, path string) []string {
	if text := textAt(object, path); text != "" {
		return append(to, text)
	}
	return to
}

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

// healthOf reads the health of an object from its conditions.
func healthOf(obj *unstructured.Unstructured) Health {
	switch {
	case obj.GetDeletionTimestamp() != nil:
		return Health{HealthPending, "Deleting"}
	case obj.GetKind() == kindPod:
		return podHealth(obj)
	case obj.GetKind() == kindNamespace || obj.GetKind() == kindEvent:
		return Health{State: HealthReady}
	case obj.GetKind() == kindDeployment:
		if health := conditionHealth(obj, "Progressing"); health.State == HealthFailed {
			return health
		}
		return conditionHealth(obj, "Available")
	default:
		return conditionHealth(obj, "Ready")
	}
}

// conditionHealth reads one condition. An object that does not have it works.
func conditionHealth(obj *unstructured.Unstructured, name string) Health {
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
	return Health{State: HealthReady}
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
		scheduled := conditionHealth(obj, string(corev1.PodScheduled))
		return Health{HealthPending, orElse(scheduled.Reason, string(phase))}
	}
	return conditionHealth(obj, string(corev1.PodReady))
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
