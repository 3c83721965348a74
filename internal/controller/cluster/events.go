// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
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

// formerStays says that the Secret that held the kubeconfig before could not be deleted.
func formerStays(cluster *clusterprovisionerv1alpha1.Cluster, ref corev1.SecretReference, err error) event.Event {
	return event.Event{
		Regarding: cluster, Warning: true, Reason: clusterprovisionerv1alpha1.ReasonSecretForbidden, Action: actionProvision,
		Note: fmt.Sprintf("Could not delete Secret %s/%s, which held the kubeconfig before, so delete it: %v", ref.Namespace, ref.Name, err),
	}
}

// announcements declares the transitions of conditions that are recorded. Stalled comes last: it repeats the condition that stalls.
func announcements() []status.Announcement {
	return []status.Announcement{
		{
			Condition: clusterprovisionerv1alpha1.ConditionConfigValid, Status: metav1.ConditionFalse,
			Warning: true, Action: actionRead,
		},
		{
			Condition: clusterprovisionerv1alpha1.ConditionProvisioned, Status: metav1.ConditionTrue,
			Action: actionProvision, Note: "The tool has applied the configuration",
		},
		{
			Condition: clusterprovisionerv1alpha1.ConditionHealthy, Status: metav1.ConditionTrue,
			Action: actionProbe, Note: "The API server answers",
		},
		{
			Condition: clusterprovisionerv1alpha1.ConditionHealthy, Status: metav1.ConditionFalse,
			Warning: true, Action: actionProbe,
		},
		{
			Condition: clusterprovisionerv1alpha1.ConditionDegraded, Status: metav1.ConditionTrue,
			Warning: true, Action: actionProvision,
		},
		{Condition: status.Stalled, Status: metav1.ConditionTrue, Warning: true, Action: actionProvision},
		{
			Condition: clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, Status: metav1.ConditionFalse,
			Reasons: []string{
				clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, clusterprovisionerv1alpha1.ReasonSecretConflict, clusterprovisionerv1alpha1.ReasonSecretForbidden,
			},
			Warning: true, Action: actionProvision,
		},
		{
			Condition: status.Ready, Status: metav1.ConditionFalse,
			Reasons: []string{clusterprovisionerv1alpha1.ReasonKubeconfigMissing}, Warning: true, Action: actionProvision,
		},
		{
			Condition: status.Ready, Status: metav1.ConditionFalse,
			Reasons: []string{clusterprovisionerv1alpha1.ReasonWaitingForApproval}, Action: actionProvision,
		},
	}
}

// progress returns the events for a stage that the tool has reached, and for a run that failed.
func progress(before, after *clusterprovisionerv1alpha1.Cluster) []event.Event {
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

// failed says how a run failed.
func failed(last *clusterprovisionerv1alpha1.Operation) string {
	message := fmt.Sprintf("attempt %d failed", last.Attempt)
	if last.Message != "" {
		message += ": " + last.Message
	}
	return message
}
