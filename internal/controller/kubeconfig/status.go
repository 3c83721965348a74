// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/status"
)

// declaration lists the conditions that Ready depends on.
func declaration() status.Declaration {
	return status.Declaration{{Type: clusterprovisionerv1alpha1.ConditionIssued}}
}

// describe writes what a pass observed and did into the Kubeconfig's status, and returns the marks of the conditions. If the pass could
// not observe, what the status says stays, and every condition is Unknown.
func describe(pass *scope, outcome flow.Outcome) *status.Marks {
	marks := declaration().Begin()
	if pass.seen != nil {
		report(pass)
		markIssued(marks, pass, outcome)
	}
	return marks
}

// held returns the Secret that holds the kubeconfig, and where it is: the former one for as long as it is there, so that it is not forgotten
// before it is deleted. It returns nil if none was written for this object, nor, where it is the Cluster's own, for that Cluster: what a Secret of
// somebody else says is not for all who may read the Kubeconfig.
func held(pass *scope) (*corev1.Secret, corev1.SecretReference) {
	seen := pass.seen
	switch {
	case seen.former != nil:
		return seen.former, corev1.SecretReference{Namespace: seen.former.Namespace, Name: seen.former.Name}
	case seen.secret == nil,
		seen.shared && !wroteIt(seen.cluster, seen.secret),
		!seen.shared && !belongsTo(pass.Object, seen.secret):
		return nil, corev1.SecretReference{}
	}
	return seen.secret, seen.ref
}

// hidden reports whether Windlass may not read the Secret that holds the kubeconfig.
func hidden(pass *scope) bool { return pass.seen.forbidden != nil && pass.seen.former == nil }

// unreadable says why the content of the Secret cannot be used. It returns nil for a good one, and where there is no Secret.
func unreadable(pass *scope) error {
	secret, _ := held(pass)
	if secret == nil {
		return nil
	}
	_, err := kube.Target(secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey])
	return err
}

// expired reports whether the credential is over. What the Secret holds decides: the spec may ask for another kind by now.
func expired(pass *scope) bool {
	if secret, _ := held(pass); !expiresAt(secret).IsZero() {
		return hasExpired(secret, pass.Now)
	}
	expires := pass.Object.Status.ExpiresAt
	return expires != nil && !pass.Now.Before(expires.Time)
}

// report writes everything of the status but the conditions.
func report(pass *scope) {
	written := &pass.Object.Status
	if was := recordOf(pass.Object, *pass.seen); was != nil && was.known {
		written.ServiceAccount, written.ClusterName = was.account, was.cluster
	}
	if hidden(pass) {
		return // where the kubeconfig is must not be forgotten
	}
	written.SecretRef, written.ExpiresAt, written.Server = nil, nil, ""
	secret, ref := held(pass)
	if secret == nil {
		return
	}
	written.SecretRef = &ref
	target, err := kube.Target(secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey])
	if err != nil {
		return
	}
	written.Server = target.Host
	if expires := expiry(secret, target); !expires.IsZero() {
		written.ExpiresAt = new(metav1.NewTime(expires.Truncate(time.Second)))
	}
}

// expiry returns when the credential expires; zero if it does not say.
func expiry(secret *corev1.Secret, target *rest.Config) time.Time {
	if expires := expiresAt(secret); !expires.IsZero() {
		return expires
	}
	block, _ := pem.Decode(target.CertData)
	if block == nil {
		return time.Time{}
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return certificate.NotAfter
}

func markIssued(marks *status.Marks, pass *scope, outcome flow.Outcome) {
	written := pass.Object.Status
	switch err := unreadable(pass); {
	case hidden(pass):
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonSecretForbidden, pass.seen.forbidden.Error())
	case written.SecretRef == nil && outcome.Reason() != "":
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, outcome.Reason(), outcome.Message())
	case written.SecretRef == nil:
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonKubeconfigMissing, "")
	case err != nil: // somebody has edited it
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonKubeconfigInvalid, err.Error())
	case expired(pass):
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonExpired, "the credential has expired")
	case pass.seen.rejected && pass.seen.former == nil:
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonExpired, "the cluster does not accept the token any more")
	default:
		message := fmt.Sprintf("Secret %s/%s holds the kubeconfig", written.SecretRef.Namespace, written.SecretRef.Name)
		marks.True(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonIssued, message)
		marks.Reach(status.ReasonReady, message)
	}
}
