// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	clusterprovisionerv1alpha1ac "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1/applyconfiguration/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/provision"
)

// stateSecret returns the Secret that keeps the tool's state, as of a run. It has no owner until the Cluster is let go: a deletion in the foreground
// takes everything that the Cluster owns at once, and with this Secret what the tool needs to remove the machines.
func stateSecret(
	cluster *clusterprovisionerv1alpha1.Cluster, namespace, run string, kept *store,
) (*corev1ac.SecretApplyConfiguration, error) {
	name := cluster.Name + clusterprovisionerv1alpha1.StateSecretSuffix
	data, err := kept.encode()
	if err != nil {
		return nil, fmt.Errorf("cannot store the state in Secret %s/%s: %w", namespace, name, err)
	}
	return corev1ac.Secret(name, namespace).WithLabels(labels(cluster)).
		WithAnnotations(map[string]string{clusterprovisionerv1alpha1.OperationAnnotation: run}).
		WithType(corev1.SecretTypeOpaque).WithData(data), nil
}

// logConfigMap returns the ConfigMap that keeps the last runs and the ends of their logs, which are redacted.
func logConfigMap(
	cluster *clusterprovisionerv1alpha1.Cluster, namespace string, kept provision.History,
) (*corev1ac.ConfigMapApplyConfiguration, error) {
	name := cluster.Name + clusterprovisionerv1alpha1.LogSuffix
	data, err := kept.Encode()
	if err != nil {
		return nil, fmt.Errorf("cannot keep the log in ConfigMap %s/%s: %w", namespace, name, err)
	}
	return corev1ac.ConfigMap(name, namespace).
		WithLabels(labels(cluster)).WithOwnerReferences(owner(cluster)).
		WithAnnotations(map[string]string{clusterprovisionerv1alpha1.OperationAnnotation: kept[0].ID}).
		WithData(data), nil
}

// runningConfigMap returns the ConfigMap that publishes a run: while it is under way with the end of its log, which is redacted.
func runningConfigMap(
	cluster *clusterprovisionerv1alpha1.Cluster, namespace string, run provision.Run,
) (*corev1ac.ConfigMapApplyConfiguration, error) {
	name := cluster.Name + clusterprovisionerv1alpha1.RunningSuffix
	data, err := provision.EncodeRunning(run)
	if err != nil {
		return nil, fmt.Errorf("cannot publish the run in ConfigMap %s/%s: %w", namespace, name, err)
	}
	return corev1ac.ConfigMap(name, namespace).
		WithLabels(labels(cluster)).WithOwnerReferences(owner(cluster)).
		WithAnnotations(map[string]string{clusterprovisionerv1alpha1.OperationAnnotation: run.ID}).
		WithData(data), nil
}

// kubeconfigSecret returns the Secret with the kubeconfig, in the form that Cluster API, Flux and Argo CD read.
func kubeconfigSecret(
	cluster *clusterprovisionerv1alpha1.Cluster, ref corev1.SecretReference, kubeconfig []byte,
) *corev1ac.SecretApplyConfiguration {
	with := labels(cluster)
	with[clusterprovisionerv1alpha1.ClusterNameLabel] = kube.LabelValue(cluster.Name)
	return corev1ac.Secret(ref.Name, ref.Namespace).WithLabels(with).WithOwnerReferences(owner(cluster)).
		WithType("cluster.x-k8s.io/secret").
		WithData(map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig})
}

// kubeconfigObject returns the Kubeconfig of the Cluster's name. The path, where there is one, is the file that the tool writes.
func kubeconfigObject(cluster *clusterprovisionerv1alpha1.Cluster, path string) *clusterprovisionerv1alpha1ac.KubeconfigApplyConfiguration {
	spec := clusterprovisionerv1alpha1ac.KubeconfigSpec().
		WithClusterRef(clusterprovisionerv1alpha1ac.ClusterReference().WithName(cluster.Name)).
		WithType(clusterprovisionerv1alpha1.KubeconfigAdmin)
	if path != "" {
		spec = spec.WithConfigPath(path)
	}
	return clusterprovisionerv1alpha1ac.Kubeconfig(cluster.Name).WithOwnerReferences(owner(cluster)).WithSpec(spec)
}

// labels are on everything that is kept for a cluster.
func labels(cluster *clusterprovisionerv1alpha1.Cluster) map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by":             "windlass",
		clusterprovisionerv1alpha1.ClusterUIDLabel: string(cluster.UID),
	}
}

// owner has the garbage collector delete what is kept, once the Cluster is gone.
func owner(cluster *clusterprovisionerv1alpha1.Cluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return patch.Owner(cluster, clusterprovisionerv1alpha1.SchemeGroupVersion.WithKind("Cluster"))
}

// belongsTo reports whether an object was written for this very Cluster.
func belongsTo(cluster *clusterprovisionerv1alpha1.Cluster, object client.Object) bool {
	return object.GetLabels()[clusterprovisionerv1alpha1.ClusterUIDLabel] == string(cluster.UID)
}
