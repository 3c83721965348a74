// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/status"
)

// What Windlass was doing when an event happened.
const (
	actionIssue  = "Issue"
	actionRevoke = "Revoke"
)

// reissued says that a token took the place of one that the cluster did not accept any more.
func reissued(config *clusterprovisionerv1alpha1.Kubeconfig) event.Event {
	return event.Event{
		Regarding: config, Warning: true, Reason: clusterprovisionerv1alpha1.ReasonIssued, Action: actionIssue,
		Note: "Issued another token: the cluster did not accept the previous one any more",
	}
}

// revoked says what of that which was made in the cluster has been deleted.
func revoked(config *clusterprovisionerv1alpha1.Kubeconfig, was *record, kinds []string) event.Event {
	return event.Event{
		Regarding: config, Reason: clusterprovisionerv1alpha1.ReasonRevoked, Action: actionRevoke,
		Note: fmt.Sprintf("Deleted %s %q from Cluster %q", strings.Join(kinds, " and "), was.account, was.cluster),
	}
}

// unrevoked says that not everything was deleted, because there is no Cluster to reach the cluster by, or one that is being removed and does not answer.
func unrevoked(config *clusterprovisionerv1alpha1.Kubeconfig, was *record, removed bool) event.Event {
	reason, why := clusterprovisionerv1alpha1.ReasonClusterNotFound, "is gone; if its machines still run"
	if removed {
		reason, why = clusterprovisionerv1alpha1.ReasonClusterNotReady, "is being deleted, and did not let Windlass; if its machines stay"
	}
	return event.Event{
		Regarding: config, Warning: true, Reason: reason, Action: actionRevoke,
		Note: fmt.Sprintf("Could not delete ServiceAccount %q and its binding: Cluster %q %s, delete both there", was.account, was.cluster, why),
	}
}

// announcements declares the transitions of conditions that are recorded.
func announcements() []status.Announcement {
	return []status.Announcement{
		{Condition: clusterprovisionerv1alpha1.ConditionIssued, Status: metav1.ConditionTrue, Action: actionIssue},
		{Condition: status.Stalled, Status: metav1.ConditionTrue, Warning: true, Action: actionIssue},
		{
			Condition: status.Ready, Status: metav1.ConditionFalse,
			Reasons: []string{clusterprovisionerv1alpha1.ReasonClusterNotFound, clusterprovisionerv1alpha1.ReasonKubeconfigMissing},
			Warning: true, Action: actionIssue,
		},
	}
}
