// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// labelUID says which Kubeconfig something was made for, here and in the cluster.
const labelUID = "clusterprovisioner.rke.io/kubeconfig-uid"

// act is the phase that works.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	switch decided := pass.decision; {
	case decided.letGo:
		return r.end(ctx, pass)
	case decided.issue:
		return r.issue(ctx, pass)
	case decided.copy != nil:
		if err := r.writeSecret(ctx, pass, decided.copy, nil); err != nil {
			return flow.Fail(err)
		}
	}
	return pass.decision.outcome
}

// issue makes a token and writes the kubeconfig with it.
func (r *Reconciler) issue(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.config
	cluster, err := newTarget(pass.seen.admin)
	if err != nil {
		return flow.Fail(err)
	}
	if old := config.Status.ServiceAccount; old != "" && old != accountOf(config) {
		if err := cluster.revoke(ctx, config, old); err != nil {
			return refused(err)
		}
	}
	kubeconfig, expires, err := cluster.issue(ctx, config)
	if err != nil {
		return refused(err)
	}
	err = r.writeSecret(ctx, pass, kubeconfig, map[string]string{
		annotationExpires: expires.UTC().Format(time.RFC3339),
		annotationIssued:  r.now().UTC().Format(time.RFC3339),
		annotationFor:     purpose(config),
	})
	return flow.Fail(err)
}

// refused says how a request to the cluster ended: what it refuses needs somebody there, all else is tried again.
func refused(err error) flow.Outcome {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsUnauthorized(err) || isForeign(err) {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonTokenRefused, err)
	}
	return flow.Fail(err)
}

// writeSecret writes the Secret, in the form that Cluster API, Flux and Argo CD read.
func (r *Reconciler) writeSecret(ctx context.Context, pass *scope, kubeconfig []byte, annotations map[string]string) error {
	config, ref := pass.config, pass.seen.ref
	labels := map[string]string{"app.kubernetes.io/managed-by": "windlass", labelUID: string(config.UID)}
	if config.Spec.ClusterRef != nil {
		labels[clusterprovisionerv1alpha1.ClusterNameLabel] = config.Spec.ClusterRef.Name
	}
	secret := corev1ac.Secret(ref.Name, ref.Namespace).WithLabels(labels).WithAnnotations(maps.Clone(annotations)).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(clusterprovisionerv1alpha1.SchemeGroupVersion.String()).WithKind("Kubeconfig").
			WithName(config.Name).WithUID(config.UID).WithController(true).WithBlockOwnerDeletion(true)).
		WithType("cluster.x-k8s.io/secret").
		WithData(map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig})
	if err := patch.Apply(ctx, r.direct, secret); err != nil {
		return fmt.Errorf("cannot write Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	written, err := r.readSecret(ctx, ref)
	if err == nil {
		pass.seen.secret = written
	}
	return err
}

// end removes what was made for the object, and lets it go. Its Secret goes with it, by its owner.
func (r *Reconciler) end(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.config
	if pass.decision.revoke {
		cluster, err := newTarget(pass.seen.admin)
		if err != nil {
			return flow.Fail(err)
		}
		account := config.Status.ServiceAccount
		if account == "" {
			account = accountOf(config)
		}
		if err := cluster.revoke(ctx, config, account); err != nil {
			return flow.Fail(err)
		}
	}
	if secret := pass.seen.secret; secret != nil && !pass.seen.shared && ours(config, *pass.seen) {
		uid := secret.UID
		err := r.direct.Delete(ctx, secret, client.Preconditions{UID: &uid})
		if client.IgnoreNotFound(err) != nil {
			return flow.Fail(fmt.Errorf("cannot delete Secret %s/%s: %w", secret.Namespace, secret.Name, err))
		}
	}
	if _, err := patch.RemoveFinalizers(ctx, r.client, config, clusterprovisionerv1alpha1.KubeconfigFinalizer); err != nil {
		return flow.Fail(err)
	}
	pass.gone = true
	return flow.Done()
}
