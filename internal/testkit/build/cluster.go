// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// ClusterBuilder builds a Cluster.
type ClusterBuilder struct {
	Object[*clusterprovisionerv1alpha1.Cluster, *ClusterBuilder]
}

// Cluster starts a cluster of generation 1 that is described nowhere.
func Cluster(name string) *ClusterBuilder {
	b := &ClusterBuilder{}
	b.object, b.self = &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}, b
	return b
}

// ConfigPath sets the file that describes the cluster.
func (b *ClusterBuilder) ConfigPath(path string) *ClusterBuilder {
	b.object.Spec.ConfigPath = path
	return b
}

// Condition sets a condition.
func (b *ClusterBuilder) Condition(conditionType string, value metav1.ConditionStatus, reason, message string) *ClusterBuilder {
	condition(&b.object.Status.Conditions, metav1.Condition{Type: conditionType, Status: value, Reason: reason, Message: message})
	return b
}
