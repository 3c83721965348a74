// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
)

const (
	// recheckSecret is how often a machine that waits for a Secret checks for it. A watch would be faster, but needs the right to
	// list every Secret of the cluster.
	recheckSecret = 15 * time.Second
	// defaultSecretKey is the key of user data in a Secret.
	defaultSecretKey = "userData"
	// secretReader is the ClusterRole that a namespace binds to let VirtualMachines use its Secrets.
	secretReader = "windlass-secret-reader"
)

// secretError says why a Secret cannot be used. It never contains anything from the Secret.
type secretError struct{ reason, text string }

// Error implements error.
func (p *secretError) Error() string { return p.text }

// readSecrets reads the Secrets that the spec names. It reads past the cache, because the manager may get a Secret by name but not
// watch any, and only in namespaces that allow it: those who may create VirtualMachines could otherwise have any Secret read.
func (r *Reconciler) readSecrets(ctx context.Context, vm *cloudnativev1alpha1.VirtualMachine) (secrets, error) {
	var held secrets
	if ref := vm.Spec.Image.PullSecret; ref != nil && ref.Name != "" {
		raw, err := r.readSecret(ctx, vm.Namespace, ref.Name, corev1.DockerConfigJsonKey)
		if err != nil {
			return held, err
		}
		if held.registry, err = registryAuth(raw, cmp.Or(vm.Spec.Image.Name, cloudnativev1alpha1.DefaultImage)); err != nil {
			return held, &secretError{
				reason: cloudnativev1alpha1.ReasonSecretInvalid, text: fmt.Sprintf("a valid Docker configuration in Secret %q: %v", ref.Name, err),
			}
		}
	}
	if init := vm.Spec.CloudInit; init != nil && init.UserDataSecretRef != nil {
		ref := init.UserDataSecretRef
		raw, err := r.readSecret(ctx, vm.Namespace, ref.Name, cmp.Or(ref.Key, defaultSecretKey))
		if err != nil {
			return held, err
		}
		held.userData = string(raw)
	}
	return held, nil
}

func (r *Reconciler) readSecret(ctx context.Context, namespace, name, key string) ([]byte, error) {
	var secret corev1.Secret
	err := kube.Read(ctx, r.live, client.ObjectKey{Namespace: namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil, &secretError{
			reason: cloudnativev1alpha1.ReasonSecretNotFound, text: fmt.Sprintf("Secret %q to be created", name),
		}
	}
	if apierrors.IsForbidden(err) {
		return nil, &secretError{reason: cloudnativev1alpha1.ReasonSecretForbidden, text: fmt.Sprintf(
			"permission to read Secret %q. To give it, run: kubectl -n %s create rolebinding windlass-secrets --clusterrole=%s %s",
			name, namespace, secretReader, r.subject)}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", name, err)
	}
	raw, ok := secret.Data[key]
	if !ok {
		return nil, &secretError{
			reason: cloudnativev1alpha1.ReasonSecretNotFound, text: fmt.Sprintf("Secret %q to have the key %q", name, key),
		}
	}
	return raw, nil
}
