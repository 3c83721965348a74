// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/clock"
)

// Annotations on the Secret of a token: what it was issued for and when it expires, which the token itself says only to those who may
// read it. When it expires is by the clock of the cluster, and when it was issued by ours: how long it is valid relates them, whatever the
// difference between the two clocks is.
const (
	annotationLife    = "clusterprovisioner.rke.io/valid-for"
	annotationExpires = "clusterprovisioner.rke.io/expires-at"
	annotationIssued  = "clusterprovisioner.rke.io/issued-at"
	annotationFor     = "clusterprovisioner.rke.io/issued-for"
)

// What a spec that says nothing about it asks for.
const (
	defaultRole       = "view"
	defaultExpiration = 3600 // seconds
)

// isToken reports whether the credential is a token that is made in the cluster.
func isToken(config *clusterprovisionerv1alpha1.Kubeconfig) bool {
	return config.Spec.Type == clusterprovisionerv1alpha1.KubeconfigServiceAccountToken
}

// purpose is what a token is issued for: another purpose needs another token.
func purpose(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	return fmt.Sprintf("%s/%s/%s/%d", clusterOf(config), accountOf(config), roleOf(config), expiration(config))
}

// clusterOf returns the name of the Cluster; empty if the spec names none.
func clusterOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	if config.Spec.ClusterRef == nil {
		return ""
	}
	return config.Spec.ClusterRef.Name
}

// accountOf returns the ServiceAccount of a token.
func accountOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	return cmp.Or(config.Spec.ServiceAccount, "windlass-"+config.Name)
}

// roleOf returns the ClusterRole of a token.
func roleOf(config *clusterprovisionerv1alpha1.Kubeconfig) string {
	return cmp.Or(config.Spec.ClusterRole, defaultRole)
}

// expiration returns for how long a token is issued, in seconds.
func expiration(config *clusterprovisionerv1alpha1.Kubeconfig) int64 {
	return cmp.Or(max(config.Spec.ExpirationSeconds, 0), defaultExpiration)
}

// grant is what a cluster says of a token that it has issued.
type grant struct {
	// expires is by the clock of the cluster.
	expires time.Time
	life    time.Duration
}

// annotationsOf describe a token on its Secret.
func annotationsOf(config *clusterprovisionerv1alpha1.Kubeconfig, issued time.Time, granted grant) map[string]string {
	return map[string]string{
		annotationExpires: granted.expires.UTC().Format(time.RFC3339),
		annotationIssued:  issued.UTC().Format(time.RFC3339),
		annotationLife:    granted.life.String(),
		annotationFor:     purpose(config),
	}
}

// expiresAt returns when the token in a Secret expires; zero if the Secret does not say.
func expiresAt(secret *corev1.Secret) time.Time {
	expires, err := time.Parse(time.RFC3339, secret.Annotations[annotationExpires])
	if err != nil {
		return time.Time{}
	}
	return expires
}

// lifeOf returns how long the token in a Secret is valid, and when it was issued by our clock; zero if the Secret does not say. Secrets of former
// versions do not tell the former.
func lifeOf(secret *corev1.Secret) (issued time.Time, life time.Duration) {
	issued, err := time.Parse(time.RFC3339, secret.Annotations[annotationIssued])
	expires := expiresAt(secret)
	if err != nil || expires.IsZero() {
		return time.Time{}, 0
	}
	if life, err := time.ParseDuration(secret.Annotations[annotationLife]); err == nil {
		return issued, life
	}
	return issued, expires.Sub(issued)
}

// old reports whether the token in a Secret has to be renewed: after two thirds of its life, or at once if the Secret does not say, or says that it
// was issued in the future.
func old(secret *corev1.Secret, now time.Time) bool {
	issued, life := lifeOf(secret)
	young := life / 3 * 2 // in this order it cannot overflow
	return clock.Left(issued.Add(young), young, now) == 0
}

// hasExpired reports whether the token in a Secret is over by our clock.
func hasExpired(secret *corev1.Secret, now time.Time) bool {
	issued, life := lifeOf(secret)
	return life > 0 && !now.Before(issued.Add(life))
}
