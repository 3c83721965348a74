// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// act is the phase that writes.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	decided := pass.decision
	switch {
	case decided.release:
		return r.release(ctx, pass)
	case decided.issue:
		if outcome := r.issue(ctx, pass); !outcome.IsDone() {
			return outcome
		}
	case decided.write != nil:
		if err := r.writeSecret(ctx, pass, decided.write, nil); err != nil {
			return flow.Fail(err)
		}
	}
	if decided.drop {
		if err := r.deleteSecret(ctx, pass.seen.former); err != nil {
			return flow.Fail(err)
		}
		pass.seen.former = nil
	}
	return decided.outcome
}

// issue issues a token and writes the kubeconfig with it.
func (r *Reconciler) issue(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.Object
	cluster, err := newTarget(pass.seen.admin)
	if err != nil {
		return flow.Fail(err)
	}
	if old := config.Status.ServiceAccount; old != "" && old != accountOf(config) {
		if err := cluster.revoke(ctx, config, old); err != nil {
			return refused(err)
		}
	}
	kubeconfig, granted, err := cluster.issue(ctx, config)
	if err != nil {
		return refused(err)
	}
	if pass.seen.rejected {
		pass.Tell(reissued(config))
	}
	return flow.Fail(r.writeSecret(ctx, pass, kubeconfig, annotationsOf(config, pass.Now, granted)))
}

// refused says how a request to the cluster ended: what the cluster refuses needs a person there, anything else is tried again.
func refused(err error) flow.Outcome {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsUnauthorized(err) || errors.Is(err, errForeign) {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonTokenRefused, err)
	}
	return flow.Fail(err)
}

// writeSecret writes the Secret with the kubeconfig.
func (r *Reconciler) writeSecret(ctx context.Context, pass *scope, kubeconfig []byte, annotations map[string]string) error {
	ref := pass.seen.ref
	if err := patch.Apply(ctx, r.direct, secretOf(pass.Object, ref, kubeconfig, annotations)); err != nil {
		return fmt.Errorf("cannot write Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	// This is what the Secret holds from now on.
	written := &corev1.Secret{Data: map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig}}
	written.Namespace, written.Name, written.Labels, written.Annotations = ref.Namespace, ref.Name, labelsOf(pass.Object), annotations
	pass.seen.secret = written
	return nil
}

// deleteSecret deletes a Secret of this object, as it was read.
func (r *Reconciler) deleteSecret(ctx context.Context, secret *corev1.Secret) error {
	uid := secret.UID
	if err := r.direct.Delete(ctx, secret, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}

// revoke deletes what was made in the cluster.
func revoke(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, account string, admin []byte) error {
	cluster, err := newTarget(admin)
	if err != nil {
		return err
	}
	return cluster.revoke(ctx, config, account)
}

// stays says why a deleted object stays, and how to let it go anyway.
func stays(config *clusterprovisionerv1alpha1.Kubeconfig, err error) flow.Outcome {
	if outcome := refused(err); outcome.IsStalled() {
		return flow.Stall(outcome.Reason(), fmt.Errorf("%w; %s", err, hintToSkip))
	}
	return waitToRevoke(config, "to answer")
}

// release removes what was made for the object, and lets it go.
func (r *Reconciler) release(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.Object
	if pass.decision.revoke {
		account := cmp.Or(config.Status.ServiceAccount, accountOf(config))
		if err := revoke(ctx, config, account, pass.seen.admin); err != nil {
			return stays(config, err)
		}
		pass.Tell(revoked(config, account))
	}
	if secret := pass.seen.secret; secret != nil && !pass.seen.shared && belongsTo(config, secret) {
		if err := r.deleteSecret(ctx, secret); err != nil {
			return flow.Fail(err)
		}
	}
	if former := pass.seen.former; former != nil {
		if err := r.deleteSecret(ctx, former); err != nil {
			return flow.Fail(err)
		}
	}
	if _, err := patch.RemoveFinalizers(ctx, r.client, config, clusterprovisionerv1alpha1.KubeconfigFinalizer); err != nil {
		return flow.Fail(err)
	}
	pass.Release()
	return flow.Done()
}
