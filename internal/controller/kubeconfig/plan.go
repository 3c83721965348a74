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

// Annotations on the Secret of a token: what it was made for and when it ends, which the token itself would tell only to who reads it.
const (
	annotationExpires = "clusterprovisioner.rke.io/expires-at"
	annotationIssued  = "clusterprovisioner.rke.io/issued-at"
	annotationFor     = "clusterprovisioner.rke.io/issued-for"
)

// decision is what a pass has to do.
type decision struct {
	// copy is what the Secret shall hold; nil leaves it as it is.
	copy []byte
	// issue says that a token has to be made.
	issue bool
	// revoke says that what was made in the cluster has to go, and letGo that the object may.
	revoke, letGo bool
	// outcome is how the pass goes on once that has been done.
	outcome flow.Outcome
}

// plan decides what the Secret has to hold.
func plan(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, now time.Time) decision {
	if !config.DeletionTimestamp.IsZero() {
		return planEnd(config, seen)
	}
	if outcome := lacking(config, seen); !outcome.IsDone() {
		return decision{outcome: outcome}
	}
	if seen.secret != nil && !seen.shared && !ours(config, seen) {
		return decision{outcome: flow.Stall(clusterprovisionerv1alpha1.ReasonSecretConflict, fmt.Errorf(
			"the Secret %s/%s exists and does not belong to this Kubeconfig", seen.ref.Namespace, seen.ref.Name))}
	}
	var next decision
	switch {
	case isToken(config):
		next.issue = due(config, seen, now)
	case !seen.shared && (seen.secret == nil ||
		!bytes.Equal(seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey], seen.admin)):
		next.copy = seen.admin
	}
	if status.IsPaused(config) && (next.issue || next.copy != nil) {
		return decision{outcome: flow.Wait(status.ReasonPaused, "the annotation "+status.PausedAnnotation+" to be removed", 0)}
	}
	return next
}

// planEnd decides what a deleted object leaves. A cluster that is gone has taken everything with it.
func planEnd(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation) decision {
	reachable := seen.cluster != nil && seen.cluster.DeletionTimestamp.IsZero() && len(seen.admin) > 0
	return decision{revoke: isToken(config) && reachable, letGo: true}
}

// lacking says what the credential cannot be made without.
func lacking(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation) flow.Outcome {
	ref := config.Spec.ClusterRef
	switch {
	case ref != nil && seen.cluster == nil:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotFound, fmt.Sprintf("Cluster %q to be created", ref.Name), 0)
	case ref != nil && len(seen.admin) == 0:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonClusterNotReady, fmt.Sprintf("Cluster %q to have a kubeconfig", ref.Name), 0)
	case len(seen.admin) == 0:
		return flow.Wait(clusterprovisionerv1alpha1.ReasonKubeconfigMissing, fmt.Sprintf("file %q to be written", config.Spec.ConfigPath), 0)
	}
	if _, err := kube.Target(seen.admin); err != nil {
		return flow.Stall(clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, errors.New(err.Error()))
	}
	return flow.Done()
}

// ours reports whether the Secret was written for this very object.
func ours(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation) bool {
	return seen.secret.Labels[labelUID] == string(config.UID)
}

// due reports whether a token has to be made: there is none, it was made for something else, or two thirds of its life are over.
func due(config *clusterprovisionerv1alpha1.Kubeconfig, seen observation, now time.Time) bool {
	if seen.secret == nil || seen.secret.Annotations[annotationFor] != purpose(config) {
		return true
	}
	issued, err := time.Parse(time.RFC3339, seen.secret.Annotations[annotationIssued])
	if err != nil {
		return true
	}
	expires, err := time.Parse(time.RFC3339, seen.secret.Annotations[annotationExpires])
	if err != nil {
		return true
	}
	return !now.Before(issued.Add(expires.Sub(issued) * 2 / 3))
}

// purpose is what a token is made for: another purpose needs another token.
func purpose(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	return fmt.Sprintf("%s/%s/%s/%d", config.Spec.ClusterRef.Name, accountOf(config), roleOf(config), expiration(config))
}

// accountOf returns the ServiceAccount of a token.
func accountOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	if config.Spec.ServiceAccount != "" {
		return config.Spec.ServiceAccount
	}
	return "windlass-" + config.Name
}

// roleOf returns what a token may do.
func roleOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	if config.Spec.ClusterRole != "" {
		return config.Spec.ClusterRole
	}
	return "view"
}

// defaultExpiration is how long a token is valid, in seconds.
const defaultExpiration = 3600

func expiration(config *clusterprovisionerv1alpha1.Kubeconfig) int64 {
	if config.Spec.ExpirationSeconds > 0 {
		return config.Spec.ExpirationSeconds
	}
	return defaultExpiration
}
