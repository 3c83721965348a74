// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
)

// credentials are what a run needs to reach the machines.
type credentials struct {
	privateKey, knownHosts []byte
	// problem says why they cannot be used; nil if they can.
	problem *refusal
}

// observeCredentials is the phase that reads the SSH key and the host keys, for a run that is about to start.
func (r *Reconciler) observeCredentials(ctx context.Context, pass *scope) flow.Outcome {
	auth := pass.Object.Spec.SSHAuth
	if pass.decision.start == nil || auth == nil {
		return flow.Done()
	}
	read := &pass.credentials
	var err error
	if auth.PrivateKeySecretRef != nil {
		read.privateKey, read.problem, err = r.readSecretKey(ctx, *auth.PrivateKeySecretRef)
	}
	if auth.KnownHostsRef != nil && read.problem == nil && err == nil {
		read.knownHosts, read.problem, err = r.readConfigMapKey(ctx, *auth.KnownHostsRef)
	}
	return flow.Fail(err)
}

// readSecretKey reads a key of a Secret.
func (r *Reconciler) readSecretKey(ctx context.Context, ref clusterprovisionerv1alpha1.KeyReference) ([]byte, *refusal, error) {
	var secret corev1.Secret
	if problem, err := r.readReferenced(ctx, "Secret", ref, &secret); problem != nil || err != nil {
		return nil, problem, err
	}
	content, found := secret.Data[ref.Key]
	return content, missingKey("Secret", ref, found), nil
}

// readConfigMapKey reads a key of a ConfigMap.
func (r *Reconciler) readConfigMapKey(ctx context.Context, ref clusterprovisionerv1alpha1.KeyReference) ([]byte, *refusal, error) {
	var configMap corev1.ConfigMap
	if problem, err := r.readReferenced(ctx, "ConfigMap", ref, &configMap); problem != nil || err != nil {
		return nil, problem, err
	}
	content, found := configMap.Data[ref.Key]
	return []byte(content), missingKey("ConfigMap", ref, found), nil
}

// readReferenced reads the object that a reference names.
func (r *Reconciler) readReferenced(
	ctx context.Context, kind string, ref clusterprovisionerv1alpha1.KeyReference, into client.Object,
) (*refusal, error) {
	if !r.mayRefer(ref.Namespace) {
		return &refusal{clusterprovisionerv1alpha1.ReasonReferenceRefused, fmt.Sprintf(
			"%s %s/%s cannot be read: Clusters can name objects in namespace %q, and in those that --config-namespaces lists",
			kind, ref.Namespace, ref.Name, r.namespace)}, nil
	}
	err := kube.Read(ctx, r.direct, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, into)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return &refusal{clusterprovisionerv1alpha1.ReasonConfigNotFound, err.Error()}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %s/%s: %w", kind, ref.Namespace, ref.Name, err)
	}
	return nil, nil //nolint:nilnil // neither refused nor failed
}

// mayRefer reports whether a Cluster can name objects in the namespace. Who may create Clusters could otherwise read any Secret.
func (r *Reconciler) mayRefer(namespace string) bool {
	return namespace == r.namespace || slices.Contains(r.configNamespaces, namespace)
}

// missingKey returns the refusal for a key that was not found.
func missingKey(kind string, ref clusterprovisionerv1alpha1.KeyReference, found bool) *refusal {
	if found {
		return nil
	}
	return &refusal{
		clusterprovisionerv1alpha1.ReasonConfigNotFound, fmt.Sprintf("%s %s/%s has no key %q", kind, ref.Namespace, ref.Name, ref.Key),
	}
}
