// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
)

// labelUID says which Kubeconfig something was made for, here and in the cluster.
const labelUID = "clusterprovisioner.rke.io/kubeconfig-uid"

// secretOf returns the Secret with the kubeconfig, in the form that Cluster API, Flux and Argo CD read.
func secretOf(
	config *clusterprovisionerv1alpha1.Kubeconfig, ref corev1.SecretReference, kubeconfig []byte, annotations map[string]string,
) *corev1ac.SecretApplyConfiguration {
	labels := labelsOf(config)
	if config.Spec.ClusterRef != nil {
		labels[clusterprovisionerv1alpha1.ClusterNameLabel] = kube.LabelValue(config.Spec.ClusterRef.Name)
	}
	return corev1ac.Secret(ref.Name, ref.Namespace).WithLabels(labels).WithAnnotations(maps.Clone(annotations)).
		WithOwnerReferences(patch.Owner(config, clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Kubeconfig"))).
		WithType("cluster.x-k8s.io/secret").
		WithData(map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig})
}

// labelsOf are on everything that is made for a Kubeconfig.
func labelsOf(config *clusterprovisionerv1alpha1.Kubeconfig) map[string]string {
	return map[string]string{"app.kubernetes.io/managed-by": "windlass", labelUID: string(config.UID)}
}

// wasIssuedFor reports whether an object in the cluster was made for this Kubeconfig, or for the one that it was restored from.
func wasIssuedFor(config *clusterprovisionerv1alpha1.Kubeconfig, object client.Object) bool {
	original := config.Status.OriginalUID
	return belongsTo(config, object) || original != "" && object.GetLabels()[labelUID] == original
}

// belongsTo reports whether an object was made for this very Kubeconfig.
func belongsTo(config *clusterprovisionerv1alpha1.Kubeconfig, object client.Object) bool {
	return object.GetLabels()[labelUID] == string(config.UID)
}
