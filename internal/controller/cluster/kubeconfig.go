// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
)

// moveKubeconfig writes the Secret with the kubeconfig, and then deletes the one that held it before.
func (r *Reconciler) moveKubeconfig(ctx context.Context, pass *scope) error {
	if pass.decision.kubeconfig != nil {
		if err := r.writeKubeconfig(ctx, pass); err != nil {
			return err
		}
	}
	if pass.decision.dropFormer {
		return r.deleteFormer(ctx, pass)
	}
	return nil
}

// writeKubeconfig writes the Secret with the kubeconfig. A namespace that refuses it is told of as one that may not be read: the cluster is probed with
// what the tool wrote, and changes of its configuration are applied.
func (r *Reconciler) writeKubeconfig(ctx context.Context, pass *scope) error {
	live, content := &pass.seen.kubeconfig, pass.decision.kubeconfig
	switch err := patch.Write(ctx, r.direct, kubeconfigSecret(pass.Object, live.ref, content), live.uid); {
	case err == nil:
		live.content = content
	case kube.IsRefused(err):
		live.forbidden = &refusal{
			clusterprovisionerv1alpha1.ReasonSecretForbidden, kube.Unwritable(live.ref, "spec.kubeconfigSecretRef", r.subject, err),
		}
		pass.decision.refused, pass.decision.dropFormer = live.forbidden, false // it is all that people have
	default:
		return fmt.Errorf("cannot write the kubeconfig to Secret %s/%s: %w", live.ref.Namespace, live.ref.Name, err)
	}
	return nil
}

// deleteFormer deletes the Secret that held the kubeconfig before. One that may not be deleted is left to people, and in the end to the garbage
// collector.
func (r *Reconciler) deleteFormer(ctx context.Context, pass *scope) error {
	secret := pass.seen.former
	err := r.direct.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})
	if client.IgnoreNotFound(err) != nil && kube.IsRefused(err) {
		ref := corev1.SecretReference{Namespace: secret.Namespace, Name: secret.Name}
		pass.Tell(formerStays(pass.Object, ref, err))
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete Secret %s/%s, which held the kubeconfig before: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}
