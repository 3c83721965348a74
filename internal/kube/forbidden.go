// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// kubeconfigWriter is the ClusterRole that lets Windlass keep kubeconfigs in a namespace, see config/rbac.
const kubeconfigWriter = "windlass-kubeconfig-writer"

// Forbidden says that Windlass may not read the Secret for a kubeconfig, which that field names, and how an administrator of the namespace allows it to
// the account, which is as "kubectl create rolebinding" takes it.
func Forbidden(secret corev1.SecretReference, field, account string) string {
	return fmt.Sprintf("Windlass may not read Secret %s/%s: name another in %s, or run: kubectl -n %s create rolebinding windlass-kubeconfigs --clusterrole=%s %s",
		secret.Namespace, secret.Name, field, secret.Namespace, kubeconfigWriter, account)
}
