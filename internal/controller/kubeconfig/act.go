// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/clock"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/patch"
	"github.com/windlass-operator/windlass/internal/status"
)

// act is the phase that writes.
func (r *Reconciler) act(ctx context.Context, pass *scope) flow.Outcome {
	decided := pass.decision
	var losses []event.Event // what is told once the record of it is gone: each pass would tell of it again
	if decided.lost {
		was := recordOf(pass.Object, *pass.seen)
		losses = append(losses, unrevoked(pass.Object, was, isRemoved(pass.Object, *pass.seen, was)))
	}
	switch {
	case decided.once:
		r.revokeOnce(ctx, pass)
	case decided.revoke:
		if outcome := r.revoke(ctx, pass); !outcome.IsDone() {
			return outcome
		}
	}
	if decided.release {
		outcome := r.release(ctx, pass)
		if outcome.IsDone() {
			pass.Tell(losses...)
		}
		return outcome
	}
	if decided.forget {
		if err := r.forget(ctx, pass); err != nil {
			return undeleted(err)
		}
		pass.Tell(losses...)
	}
	if decided.note {
		pass.Object.Status.ServiceAccount, pass.Object.Status.ClusterName = accountOf(pass.Object), clusterOf(pass.Object)
	}
	switch {
	case decided.issue:
		if outcome := r.issue(ctx, pass); !outcome.IsDone() {
			return outcome
		}
	case decided.write != nil:
		if err := r.writeSecret(ctx, pass, decided.write, nil); err != nil {
			return r.unwritten(pass, err)
		}
	}
	if decided.drop && pass.seen.former != nil {
		if err := r.deleteSecret(ctx, pass.seen.former); err != nil {
			return undeleted(err)
		}
		pass.seen.former = nil
	}
	return decided.outcome
}

// issue issues a token and writes the kubeconfig with it.
func (r *Reconciler) issue(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.Object
	if wasRefused(config) { // or each pass would make a token that nobody gets
		if err := r.rehearse(ctx, pass); err != nil {
			return r.unwritten(pass, err)
		}
	}
	again, key := pass.seen.rejected, client.ObjectKeyFromObject(config)
	if again && clock.Left(r.useless.Last(key).Add(flow.RecheckStalled), flow.RecheckStalled, pass.Now) > 0 {
		return unaccepted(config)
	}
	cluster, err := r.newTarget(pass.seen.admin)
	if err != nil {
		return flow.Fail(err)
	}
	kubeconfig, granted, err := cluster.issue(ctx, config)
	if err != nil {
		return unissued(ctx, config, err)
	}
	if again && apierrors.IsUnauthorized(r.enter(ctx, kubeconfig)) { // or it would seem to be mended each time
		r.useless.Set(key, pass.Now)
		return unaccepted(config)
	}
	if err := r.writeSecret(ctx, pass, kubeconfig, annotationsOf(config, pass.Now, granted)); err != nil {
		return r.unwritten(pass, err)
	}
	if again {
		pass.Did(reissued(config))
	}
	return flow.Done()
}

// unissued says why there is no token. A cluster that does not answer is asked again like one that is to revoke a token: it is not the API server that
// this process cannot do without, so its passes neither come each second nor back off. Why it does not answer is in the log, and in the conditions of
// its Cluster: a text that changes with each try would be a status with each try.
func unissued(ctx context.Context, config *clusterprovisionerv1alpha1.Kubeconfig, err error) flow.Outcome {
	if isRefused(err) {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonTokenRefused, err)
	}
	log.FromContext(ctx).Info("Cannot issue a token", "Cluster", clusterOf(config), "reason", err.Error())
	return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady,
		fmt.Sprintf("Cluster %q to answer, so that a token can be issued", clusterOf(config)), lookAgain/3)
}

// unaccepted says that a token has been made in place of one that the cluster does not accept, and that it does not accept the new one either.
func unaccepted(config *clusterprovisionerv1alpha1.Kubeconfig) flow.Outcome {
	return flow.Stall(clusterprovisionerv1alpha1.ReasonTokenRefused, fmt.Errorf(
		"the Cluster %q does not accept the tokens that it issues: check that all of its API servers have the same keys for ServiceAccount tokens", clusterOf(config)))
}

// wasRefused reports whether the status says that a Secret could not be read, written or deleted.
func wasRefused(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	stalled := apimeta.FindStatusCondition(config.Status.Conditions, status.Stalled)
	return stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == clusterprovisionerv1alpha1.ReasonSecretForbidden
}

// rehearse asks the API server whether the Secret could be written.
func (r *Reconciler) rehearse(ctx context.Context, pass *scope) error {
	ref, seen := pass.seen.ref, types.UID("")
	if pass.seen.secret != nil {
		seen = pass.seen.secret.UID
	}
	return patch.Write(ctx, client.NewDryRunClient(r.direct), secretOf(pass.Object, ref, nil, nil), seen)
}

// unwritten says how a write of the Secret ended. What its namespace refuses needs a person, who is told of it as of a Secret that may not be read.
func (r *Reconciler) unwritten(pass *scope, err error) flow.Outcome {
	if !kube.IsRefused(err) {
		return flow.Fail(err)
	}
	return flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden,
		errors.New(kube.Unwritable(pass.seen.ref, "spec.writeSecretToRef", r.subject, err)))
}

// undeleted says how the deletion of a Secret ended that holds no more than what was revoked, or is elsewhere by now.
func undeleted(err error) flow.Outcome {
	if !kube.IsRefused(err) {
		return flow.Fail(err)
	}
	return flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden, fmt.Errorf("%w: delete it, or let Windlass do so", err))
}

// writeSecret writes the Secret with the kubeconfig.
func (r *Reconciler) writeSecret(ctx context.Context, pass *scope, kubeconfig []byte, annotations map[string]string) error {
	ref, seen := pass.seen.ref, types.UID("")
	if pass.seen.secret != nil {
		seen = pass.seen.secret.UID
	}
	if err := patch.Write(ctx, r.direct, secretOf(pass.Object, ref, kubeconfig, annotations), seen); err != nil {
		return fmt.Errorf("cannot write Secret %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	// This is what the Secret holds from now on.
	written := &corev1.Secret{Data: map[string][]byte{clusterprovisionerv1alpha1.KubeconfigSecretKey: kubeconfig}}
	written.Namespace, written.Name, written.Labels, written.Annotations = ref.Namespace, ref.Name, labelsOf(pass.Object), annotations
	pass.seen.secret, pass.seen.rejected = written, false
	return nil
}

// release removes what was made for the object, and lets it go. A Secret that may not be deleted is left to the garbage collector.
func (r *Reconciler) release(ctx context.Context, pass *scope) flow.Outcome {
	config := pass.Object
	if secret := pass.seen.secret; secret != nil && !pass.seen.shared && belongsTo(config, secret) {
		if err := r.deleteSecret(ctx, secret); err != nil && !kube.IsRefused(err) {
			return flow.Fail(err)
		}
	}
	if former := pass.seen.former; former != nil {
		if err := r.deleteSecret(ctx, former); err != nil && !kube.IsRefused(err) {
			return flow.Fail(err)
		}
	}
	if _, err := patch.RemoveFinalizers(ctx, r.client, config, clusterprovisionerv1alpha1.KubeconfigFinalizer); err != nil {
		return flow.Fail(err)
	}
	pass.Release()
	return flow.Done()
}
