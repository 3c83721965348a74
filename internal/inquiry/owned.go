// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package inquiry

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsOfDeployment reports whether a pod is one of the Deployment of that name in its namespace: whether one of its ReplicaSets controls the
// pod, whose name is that of the Deployment and a hash that their pods have as a label. Any pod can have the labels that a Deployment selects.
func IsOfDeployment(pod metav1.Object, name string) bool {
	hash, controller := pod.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey], metav1.GetControllerOf(pod)
	return controller != nil && controller.Kind == "ReplicaSet" && hash != "" && controller.Name == name+"-"+hash
}
