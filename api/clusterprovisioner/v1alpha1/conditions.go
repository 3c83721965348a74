// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons that a Cluster and a Kubeconfig have.
const (
	// ReasonConfigPathRefused says that configPath is outside of --config-root.
	ReasonConfigPathRefused = "ConfigPathRefused"
	// ReasonKubeconfigMissing says that the tool has not written a kubeconfig.
	ReasonKubeconfigMissing = "KubeconfigMissing"
	// ReasonKubeconfigInvalid says that what the tool wrote is not a kubeconfig that Windlass accepts.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"
	// ReasonSecretConflict says that a Secret of that name exists and belongs to somebody else.
	ReasonSecretConflict = "SecretConflict"
	// ReasonSecretForbidden says that the namespace does not let Windlass read or write the Secret for the kubeconfig.
	ReasonSecretForbidden = "SecretForbidden"
)
