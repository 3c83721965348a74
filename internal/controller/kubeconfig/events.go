// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// actionIssue is what Windlass was doing when an event happened.
const actionIssue = "Issue"

// announcements declares the transitions of conditions that are recorded.
func announcements() []status.Announcement {
	return []status.Announcement{
		{Condition: clusterprovisionerv1alpha1.ConditionIssued, Status: metav1.ConditionTrue, Action: actionIssue},
		{Condition: status.Stalled, Status: metav1.ConditionTrue, Warning: true, Action: actionIssue},
	}
}
