// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// What Windlass was doing when an event happened.
const (
	actionProvision = "Provision"
	actionRemove    = "Remove"
	actionProbe     = "Probe"
	actionRead      = "Read"
)

// runStarted says that the tool has been started.
func runStarted(cluster *clusterprovisionerv1alpha1.Cluster, next *launch) event.Event {
	what, action := "apply the configuration", actionProvision
	if next.action == provision.Remove {
		what, action = "remove the cluster", actionRemove
	}
	return event.Event{
		Regarding: cluster, Reason: clusterprovisionerv1alpha1.ReasonRunStarted, Action: action,
		Note: fmt.Sprintf("Started the tool to %s: attempt %d, run %s", what, next.attempt, next.id),
	}
}

// transitions returns the events for what a pass observed and the pass before did not.
func transitions(before, after *clusterprovisionerv1alpha1.Cluster) []event.Event {
	list := operation(before, after)
	for _, change := range []struct {
		conditionType string
		value         metav1.ConditionStatus
		warning       bool
		action, note  string
	}{
		{clusterprovisionerv1alpha1.ConditionConfigValid, metav1.ConditionFalse, true, actionRead, ""},
		{clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionTrue, false, actionProvision, "The tool has applied the configuration"},
		{clusterprovisionerv1alpha1.ConditionHealthy, metav1.ConditionTrue, false, actionProbe, "The API server answers"},
		{clusterprovisionerv1alpha1.ConditionHealthy, metav1.ConditionFalse, true, actionProbe, ""},
		{clusterprovisionerv1alpha1.ConditionDegraded, metav1.ConditionTrue, true, actionProvision, ""},
		{status.Stalled, metav1.ConditionTrue, true, actionProvision, ""},
	} {
		now, turned := turned(before, after, change.conditionType, change.value)
		known := func(e event.Event) bool { return e.Reason == now.Reason } // Stalled repeats the condition that stalls
		if !turned || slices.ContainsFunc(list, known) {
			continue
		}
		note := change.note
		if note == "" {
			note = now.Message
		}
		list = append(list, event.Event{Regarding: after, Warning: change.warning, Reason: now.Reason, Action: change.action, Note: note})
	}
	return list
}

// operation returns the events for a stage that the tool has reached, and for a run that failed.
func operation(before, after *clusterprovisionerv1alpha1.Cluster) []event.Event {
	was, is := before.Status.LastOperation, after.Status.LastOperation
	if is == nil {
		return nil
	}
	action := actionProvision
	if is.Action == clusterprovisionerv1alpha1.ActionRemove {
		action = actionRemove
	}
	same := was != nil && was.ID == is.ID
	var list []event.Event
	if is.Stage != "" && (!same || was.Stage != is.Stage) {
		list = append(list, event.Event{Regarding: after, Reason: clusterprovisionerv1alpha1.ReasonStage, Action: action, Note: is.Stage})
	}
	if is.Reason != "" && (!same || was.Reason == "") {
		list = append(list, event.Event{
			Regarding: after, Warning: true, Reason: clusterprovisionerv1alpha1.ReasonRunFailed, Action: action,
			Note: fmt.Sprintf("%s: %s", is.Reason, failed(is)),
		})
	}
	return list
}

// turned reports whether a condition has just got the value, and returns it. Another message for the same reason is not news.
func turned(
	before, after *clusterprovisionerv1alpha1.Cluster, conditionType string, value metav1.ConditionStatus,
) (*metav1.Condition, bool) {
	now := apimeta.FindStatusCondition(after.Status.Conditions, conditionType)
	if now == nil || now.Status != value {
		return nil, false
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, conditionType)
	return now, was == nil || was.Status != now.Status || was.Reason != now.Reason
}
