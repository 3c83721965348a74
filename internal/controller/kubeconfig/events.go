// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// actionIssue is what Windlass was doing when an event happened.
const actionIssue = "Issue"

// transitions returns the events for what a pass has brought about or met, and the one before has not.
func transitions(before, after *clusterprovisionerv1alpha1.Kubeconfig) []event.Event {
	var list []event.Event
	if now, ok := turned(before, after, clusterprovisionerv1alpha1.ConditionIssued); ok {
		list = append(list, event.Event{
			Regarding: after, Reason: clusterprovisionerv1alpha1.ReasonIssued, Action: actionIssue, Note: "Wrote the kubeconfig to " + now.Message,
		})
	}
	if now, ok := turned(before, after, status.Stalled); ok {
		list = append(list, event.Event{Regarding: after, Warning: true, Reason: now.Reason, Action: actionIssue, Note: now.Message})
	}
	return list
}

// turned reports whether a condition has become True, or for another reason than before.
func turned(before, after *clusterprovisionerv1alpha1.Kubeconfig, conditionType string) (*metav1.Condition, bool) {
	now := apimeta.FindStatusCondition(after.Status.Conditions, conditionType)
	if now == nil || now.Status != metav1.ConditionTrue {
		return nil, false
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, conditionType)
	return now, was == nil || was.Status != now.Status || was.Reason != now.Reason
}
