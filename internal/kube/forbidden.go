// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kubeconfigWriter is the ClusterRole that lets Windlass keep kubeconfigs in a namespace, see config/rbac.
const kubeconfigWriter = "windlass-kubeconfig-writer"

// Forbidden says that Windlass may not read the Secret for a kubeconfig, which that field names, and how an administrator of the namespace allows it to
// the account, which is as "kubectl create rolebinding" takes it.
func Forbidden(secret corev1.SecretReference, field, account string) string {
	return lacking("read", secret, field, account)
}

// IsRefused reports whether a namespace refuses a write of a Secret until a person changes something there: it is not there, Windlass lacks a right, or
// admission forbids it.
func IsRefused(err error) bool {
	return !IsUnreachable(err) && (apierrors.IsForbidden(err) || apierrors.IsNotFound(err))
}

// Unwritable says why the Secret for a kubeconfig, which that field names, cannot be written, after IsRefused, and how to go on.
func Unwritable(secret corev1.SecretReference, field, account string, err error) string {
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "is forbidden: User ") { // only a missing right names a user
		return lacking("write", secret, field, account)
	}
	return fmt.Sprintf("cannot write Secret %s/%s: %s: name another in %s", secret.Namespace, secret.Name, reasonOf(err), field)
}

// reasonOf returns what the API server said, without what was added to it.
func reasonOf(err error) string {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.ErrStatus.Message
	}
	return err.Error()
}

func lacking(verb string, secret corev1.SecretReference, field, account string) string {
	return fmt.Sprintf("Windlass may not %s Secret %s/%s: name another in %s, or run: kubectl -n %s create rolebinding windlass-kubeconfigs --clusterrole=%s %s",
		verb, secret.Namespace, secret.Name, field, secret.Namespace, kubeconfigWriter, account)
}
