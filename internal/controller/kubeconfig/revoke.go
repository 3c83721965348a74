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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/patch"
)

// record tells which token was issued. The spec does not: it may ask for something else by now.
type record struct {
	cluster, account string
	// known says that a token was or is about to be issued, and not only that one may have been: there was a finalizer, and nothing was written.
	known bool
}

// recordOf returns what was issued for the object, of which the status tells; nil if nothing was. The Secret is no witness: who may write it
// could have the token outlive the object. The status of an older version names no Cluster: it is the one of the spec.
func recordOf(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation) *record {
	account := config.Status.ServiceAccount
	if account == "" && !isToken(config) && !controllerutil.ContainsFinalizer(config, clusterprovisionerv1alpha1.KubeconfigFinalizer) {
		return nil
	}
	written := isToken(config) && seen.secret != nil && belongsTo(config, seen.secret)
	return &record{
		cluster: cmp.Or(config.Status.ClusterName, clusterOf(config)), account: cmp.Or(account, accountOf(config)), known: account != "" || written,
	}
}

// noted reports whether the status tells of the token that the spec asks for. It does before anything is made in the cluster: what a pass has made
// while the spec was changed, or before it was killed, would be forgotten otherwise.
func noted(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	return config.Status.ServiceAccount == accountOf(config) && config.Status.ClusterName == clusterOf(config)
}

// outdated reports whether what was issued is not what the spec asks for: another type, cluster or ServiceAccount.
func outdated(config *clusterprovisionerv1alpha1.Kubeconfig, was *record) bool {
	return was != nil && (!isToken(config) || was.cluster != clusterOf(config) || was.account != accountOf(config))
}

// issuer returns the cluster that a token was issued in, and the kubeconfig of its tool or why Windlass may not read that.
func issuer(
	config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, was *record,
) (cluster *clusterprovisionerv1alpha1.Cluster, admin []byte, forbidden error) {
	if was.cluster == clusterOf(config) {
		return seen.cluster, seen.admin, seen.adminForbidden
	}
	return seen.issuer, seen.issuerAdmin, seen.issuerForbidden
}

// planRevocation decides whether what was issued has to be revoked, or what that waits for. There is no way into a cluster whose Cluster is gone. One that
// the tool removes takes everything with it, but a removal can fail and be given up: it is asked, and not waited for. A token in another one that cannot
// be asked is given up by a person only.
func planRevocation(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, was *record) (bool, flow.Outcome) {
	cluster, admin, forbidden := issuer(config, seen, was)
	switch {
	case cluster == nil || isGivenUp(config):
		return false, flow.Done()
	case len(admin) > 0:
		return true, flow.Done()
	case isRemoved(config, seen, was):
		return false, flow.Done()
	case was.known && forbidden != nil:
		return false, waitToRevoke(config, was, "to have a kubeconfig that Windlass may read", ". "+forbidden.Error())
	case was.known:
		return false, waitToRevoke(config, was, "to have a kubeconfig", "")
	}
	return false, flow.Done()
}

// isRemoved reports whether the tool removes the cluster that a token was issued in, or is to.
func isRemoved(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, was *record) bool {
	cluster, _, _ := issuer(config, seen, was)
	return cluster != nil && !cluster.DeletionTimestamp.IsZero() && cluster.Spec.DeletionPolicy != clusterprovisionerv1alpha1.DeletionOrphan
}

// lost reports whether a token cannot be revoked any more that may still work: its Cluster is gone, and perhaps only as an object, or is being deleted
// and has no kubeconfig.
func lost(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, was *record) bool {
	cluster, admin, _ := issuer(config, seen, was)
	return (cluster == nil || len(admin) == 0 && isRemoved(config, seen, was)) && was.known && !isGivenUp(config)
}

// isGivenUp reports whether a person has given the token up.
func isGivenUp(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	return config.Annotations[clusterprovisionerv1alpha1.SkipRevocationAnnotation] == "true"
}

// waitToRevoke says what the object waits for, and how to go on anyway. Further sentences come last, because one may end with a command.
func waitToRevoke(config *clusterprovisionerv1alpha1.Kubeconfig, was *record, what, further string) flow.Outcome {
	return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, fmt.Sprintf("Cluster %q %s, so that the token can be revoked; %s%s",
		was.cluster, what, hintToSkip(config), further), lookAgain/3)
}

// hintToSkip says how to go on without the token being revoked.
func hintToSkip(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	if config.DeletionTimestamp.IsZero() {
		return "to go on without that, annotate this Kubeconfig with " + clusterprovisionerv1alpha1.SkipRevocationAnnotation + "=true"
	}
	return "to delete this Kubeconfig anyway, annotate it with " + clusterprovisionerv1alpha1.SkipRevocationAnnotation + "=true"
}

// revokeOnce deletes what was made in a cluster that the tool removes, if that answers at once. The outcome does not matter to what comes next.
func (r *Reconciler) revokeOnce(ctx context.Context, pass *scope) {
	within, end := context.WithTimeout(ctx, callTimeout)
	defer end()
	was := recordOf(pass.Object, *pass.seen)
	if outcome := r.revoke(within, pass); !outcome.IsDone() && was.known {
		pass.Tell(unrevoked(pass.Object, was, true))
	}
}

// revoke deletes what was made in the cluster.
func (r *Reconciler) revoke(ctx context.Context, pass *scope) flow.Outcome {
	config, was := pass.Object, recordOf(pass.Object, *pass.seen)
	_, admin, _ := issuer(config, *pass.seen, was)
	cluster, err := r.newTarget(admin)
	var deleted []string
	if err == nil {
		deleted, err = cluster.revoke(ctx, config, was.account)
	}
	if err != nil {
		return stays(config, was, err)
	}
	if len(deleted) > 0 {
		pass.Did(revoked(config, was, deleted))
	}
	return flow.Done()
}

// stays says why what was issued stays, and how to go on anyway.
func stays(config *clusterprovisionerv1alpha1.Kubeconfig, was *record, err error) flow.Outcome {
	if isRefused(err) {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonTokenRefused, fmt.Errorf("%w; %s", err, hintToSkip(config)))
	}
	return waitToRevoke(config, was, "to answer", "")
}

// isRefused reports whether the cluster has refused a request, which needs a person there. Anything else is tried again.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsUnauthorized(err) || errors.Is(err, errForeign)
}

// forget removes what tells of a token that was revoked or given up. Its Secret goes too, because it can take long until another is written.
func (r *Reconciler) forget(ctx context.Context, pass *scope) error {
	config := pass.Object
	for _, secret := range []**corev1.Secret{&pass.seen.secret, &pass.seen.former} {
		if *secret == nil || !belongsTo(config, *secret) || (*secret).Annotations[annotationFor] == "" {
			continue
		}
		if err := r.deleteSecret(ctx, *secret); err != nil {
			return err
		}
		*secret = nil
	}
	if !isToken(config) {
		if _, err := patch.RemoveFinalizers(ctx, r.client, config, clusterprovisionerv1alpha1.KubeconfigFinalizer); err != nil {
			return err
		}
		pass.Rebase()
	}
	config.Status.ServiceAccount, config.Status.ClusterName = "", ""
	return nil
}

// deleteSecret deletes a Secret of this object, as it was read.
func (r *Reconciler) deleteSecret(ctx context.Context, secret *corev1.Secret) error {
	uid := secret.UID
	err := r.direct.Delete(ctx, secret, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}
