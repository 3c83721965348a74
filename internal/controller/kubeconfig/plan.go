// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
)

// decision is what a pass has to do.
type decision struct {
	// write is what the Secret has to hold; nil leaves it as it is.
	write []byte
	// issue says that a token has to be issued, note that the status has to tell of it before.
	issue, note bool
	// drop says that the former Secret has to go, once the new one is written.
	drop bool
	// revoke says that what was made in the cluster has to go, forget that nothing may tell of it any more, release that the object can go.
	revoke, forget, release bool
	// once says that a revocation that fails is not repeated: the tool removes the cluster, and with it what was made there.
	once bool
	// lost says that what was made cannot be revoked, because the Cluster is gone, or is being deleted and has no kubeconfig: its machines may still run.
	lost bool
	// outcome is how the pass goes on once all this is done.
	outcome flow.Outcome
}

// soon is how long a pass waits that noted something which the next one acts on.
const soon = time.Millisecond

// plan decides what has to be revoked, and then what the Secret has to hold.
func plan(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, now time.Time) decision {
	was := recordOf(config, seen)
	if !config.DeletionTimestamp.IsZero() {
		return planEnd(config, seen, was)
	}
	next := planSecret(config, seen, now)
	if outdated(config, was) {
		revoke, outcome := planRevocation(config, seen, was)
		if !outcome.IsDone() { // nothing else is handed out before
			return decision{outcome: outcome}
		}
		next.revoke, next.forget, next.lost = revoke, true, lost(config, seen, was)
		next.once = revoke && isRemoved(config, seen, was)
	}
	if status.IsPaused(config) && (next.issue || next.write != nil || next.drop || next.forget) {
		return decision{outcome: flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)}
	}
	if next.issue && !noted(config) {
		next.issue, next.note, next.drop = false, true, false
		next.outcome = flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, fmt.Sprintf("ServiceAccount %q to be made in Cluster %q",
			accountOf(config), clusterOf(config)), soon)
	}
	return next
}

// planSecret decides what the Secret has to hold.
func planSecret(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, now time.Time) decision {
	if outcome := missing(config, seen); !outcome.IsDone() {
		return decision{outcome: outcome}
	}
	if seen.forbidden != nil {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden, seen.forbidden)}
	}
	if seen.secret != nil && !seen.shared && !belongsTo(config, seen.secret) {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretConflict, fmt.Errorf(
			"the Secret %s/%s exists and does not belong to this Kubeconfig: delete it, or name another in spec.writeSecretToRef",
			seen.ref.Namespace, seen.ref.Name))}
	}
	next := decision{drop: seen.former != nil}
	switch {
	case isToken(config):
		next.issue = due(config, seen, now)
	case !seen.shared && (seen.secret == nil ||
		!bytes.Equal(seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey], seen.admin)):
		next.write = seen.admin
	}
	return next
}

// planEnd decides what a deleted object leaves.
func planEnd(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, was *record) decision {
	if was == nil {
		return decision{release: true}
	}
	revoke, outcome := planRevocation(config, seen, was)
	return decision{
		revoke: revoke, once: revoke && isRemoved(config, seen, was), release: outcome.IsDone(), lost: lost(config, seen, was), outcome: outcome,
	}
}

// namesNothing reports whether the spec names neither a Cluster nor a file. The API server checks that in a spec, but not that there is one; a rule that
// does would keep those that are stored from being written.
func namesNothing(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	return config.Spec.ClusterRef == nil && config.Spec.ConfigPath == ""
}

// missing says what the credential cannot be made without.
func missing(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation) flow.Outcome {
	ref := config.Spec.ClusterRef
	switch {
	case namesNothing(config):
		return flow.Stall(clusterprovisionerv1alpha1.ReasonKubeconfigMissing, errors.New("spec names no kubeconfig: give spec.clusterRef or spec.configPath"))
	case seen.outside:
		return flow.Stall(clusterprovisionerv1alpha1.ReasonConfigPathRefused, fmt.Errorf(
			"file %q is outside of the directory that --config-root allows", config.Spec.ConfigPath))
	case ref != nil && seen.cluster == nil:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotFound, fmt.Sprintf("Cluster %q to be created", ref.Name), 0)
	case seen.adminForbidden != nil:
		return flow.Stall(clusterprovisionerv1alpha1.ReasonSecretForbidden, seen.adminForbidden)
	case ref != nil && len(seen.admin) == 0:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, fmt.Sprintf("Cluster %q to have a kubeconfig", ref.Name), 0)
	case len(seen.admin) == 0:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonKubeconfigMissing, fmt.Sprintf("file %q to be written", config.Spec.ConfigPath), 0)
	}
	if _, err := kube.Target(seen.admin); err != nil {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, err)
	}
	return flow.Done()
}

// due reports whether a token has to be issued: there is none, it was issued for something else, it is time to renew it, the cluster does
// not accept it any more, it has lost its role, or the kubeconfig in the Secret does not lead to the cluster.
func due(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, now time.Time) bool {
	return seen.secret == nil || seen.rejected || seen.unbound || seen.secret.Annotations[annotationFor] != purpose(config) ||
		old(seen.secret, now) || !leads(seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey], seen.admin)
}
