// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
)

// Codes of kubeconfigs that are not handed out.
const (
	notYet        = "NotYet"
	foreignSecret = "ForeignSecret"
)

// SecretOf returns the Secret that has the kubeconfig of a Kubeconfig.
func SecretOf(config *clusterprovisionerv1alpha1.Kubeconfig) (*corev1.SecretReference, error) {
	if config.Status.SecretRef == nil {
		return nil, refuse(notYet, "The Kubeconfig has no Secret yet. Its condition Ready says why.")
	}
	return config.Status.SecretRef, nil
}

// KubeconfigOf returns the kubeconfig of a Kubeconfig from its Secret. The status is no proof that the Secret is its own: anyone who may
// write the status could name a Secret of theirs, whose kubeconfig runs a program where it is used.
func KubeconfigOf(config *clusterprovisionerv1alpha1.Kubeconfig, secret *corev1.Secret) ([]byte, error) {
	content := secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey]
	name := secret.Namespace + "/" + secret.Name
	switch {
	case !writtenFor(config, secret):
		return nil, refuse(foreignSecret, "The Secret "+name+" was not written for this Kubeconfig, nor for its Cluster.")
	case len(content) == 0:
		return nil, refuse(notYet, "The Secret has no kubeconfig yet. The condition Ready says why.")
	}
	if _, err := kube.Target(content); err != nil { // which Windlass writes none of
		return nil, refuse(foreignSecret, "The Secret "+name+": "+err.Error()+".")
	}
	return content, nil
}

// writtenFor reports whether the Secret belongs to the Kubeconfig. The one of a Cluster is for all its Kubeconfigs of type Admin.
func writtenFor(config *clusterprovisionerv1alpha1.Kubeconfig, secret *corev1.Secret) bool {
	cluster := config.Spec.ClusterRef
	admin := config.Spec.Type != clusterprovisionerv1alpha1.KubeconfigServiceAccountToken
	return slices.ContainsFunc(secret.OwnerReferences, func(owner metav1.OwnerReference) bool {
		switch {
		case owner.APIVersion != clusterprovisionerv1alpha1.SchemeGroupVersion.String():
			return false
		case owner.Kind == "Cluster":
			return admin && cluster != nil && owner.Name == cluster.Name
		}
		return owner.Kind == "Kubeconfig" && owner.UID == config.UID
	})
}
