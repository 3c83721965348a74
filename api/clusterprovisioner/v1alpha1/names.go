// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Finalizers and annotations.
const (
	// ClusterFinalizer keeps a Cluster until what the tool made has been removed.
	ClusterFinalizer = "clusterprovisioner.rke.io/provisioner"
	// LegacyFinalizer is the article's finalizer, without a domain. Windlass never sets it, and removes it where it finds it.
	LegacyFinalizer = "provisioner"
	// KubeconfigFinalizer keeps a Kubeconfig until what was made for it in its cluster has been revoked.
	KubeconfigFinalizer = "clusterprovisioner.rke.io/kubeconfig"
	// VersionAnnotation holds the version of the cluster's Kubernetes.
	VersionAnnotation = "clusterprovisioner.rke.io/kubernetes-version"
	// ApproveAnnotation approves the plan with the id that is its value.
	ApproveAnnotation = "clusterprovisioner.rke.io/approve"
	// AcceptSkippedAnnotation with the value "true" lets a Cluster go although the tool could not reach every machine.
	AcceptSkippedAnnotation = "clusterprovisioner.rke.io/accept-skipped-nodes"
	// SkipRevocationAnnotation with the value "true" lets a Kubeconfig go, or give other access, although the cluster of its token does not
	// answer: the token then works until it expires.
	SkipRevocationAnnotation = "clusterprovisioner.rke.io/skip-revocation"
	// OperationAnnotation on a Secret or ConfigMap names the run that its content is from.
	OperationAnnotation = "clusterprovisioner.rke.io/operation"
	// RetryAnnotation runs the tool again when its value changes, whatever the state of the cluster.
	RetryAnnotation = "clusterprovisioner.rke.io/retry"
)

// The names of Secrets and what is in them.
const (
	// KubeconfigSecretSuffix follows the name of the Cluster or Kubeconfig in the name of its Secret, as Cluster API has it.
	KubeconfigSecretSuffix = "-kubeconfig" //nolint:gosec // a part of a name, and no secret
	// KubeconfigSecretKey is the key of a Secret that holds a kubeconfig, as Cluster API and Flux read it.
	KubeconfigSecretKey = "value"
	// StateSecretSuffix follows the name of the Cluster in the name of the Secret that holds the tool's state.
	StateSecretSuffix = "-state"
	// LogSuffix follows the name of the Cluster in the name of the ConfigMap that holds the end of the last run's log.
	LogSuffix = "-log"
	// RunningSuffix follows the name of the Cluster in the name of the ConfigMap that holds what a run that is under way has printed.
	RunningSuffix = "-running"
	// ClusterNameLabel names the cluster on the Secret, as Cluster API has it. A name of more than 63 characters is cut there, and has a part of its hash.
	ClusterNameLabel = "cluster.x-k8s.io/cluster-name"
	// ClusterUIDLabel says whose state, log or kubeconfig an object is.
	ClusterUIDLabel = "clusterprovisioner.rke.io/cluster-uid"
)

// KubeconfigSecret returns the Secret that the Cluster's kubeconfig goes to; the namespace is the one that Windlass runs in, for a spec
// that names none. Use it, not status.kubeconfigRef, to read a kubeconfig: the right to write a status is not the right to choose Secrets.
func (c *Cluster) KubeconfigSecret(namespace string) corev1.SecretReference {
	ref := corev1.SecretReference{}
	if c.Spec.KubeconfigSecretRef != nil {
		ref = *c.Spec.KubeconfigSecretRef
	}
	if ref.Name == "" {
		ref.Name = c.Name + KubeconfigSecretSuffix
	}
	if ref.Namespace == "" {
		ref.Namespace = namespace
	}
	return ref
}
