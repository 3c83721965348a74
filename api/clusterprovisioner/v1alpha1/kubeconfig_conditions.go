// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ConditionIssued is the condition of a Kubeconfig that is True when its Secret holds a valid kubeconfig.
const ConditionIssued = "Issued"

// Reasons of Issued, and of events of a Kubeconfig.
const (
	// ReasonIssued says that the Secret holds a valid kubeconfig.
	ReasonIssued = "Issued"
	// ReasonClusterNotFound says that there is no Cluster of the name in clusterRef.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonClusterNotReady says that the cluster has no kubeconfig yet, or does not answer.
	ReasonClusterNotReady = "ClusterNotReady"
	// ReasonTokenRefused says that the cluster refused the ServiceAccount, its binding or the token.
	ReasonTokenRefused = "TokenRefused"
	// ReasonRevoked is the reason of the event for a ServiceAccount that has been deleted from the cluster.
	ReasonRevoked = "Revoked"
	// ReasonExpired says that the credential has expired, or is not accepted by the cluster any more.
	ReasonExpired = "Expired"
)
