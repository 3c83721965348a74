// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

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

// describe writes what a pass has seen and how it ended into the Kubeconfig's status. Where the pass could not look, what the status
// says stays, and every condition is Unknown.
func describe(pass *scope, outcome flow.Outcome, now time.Time) {
	marks := declaration().Begin()
	if pass.seen != nil {
		report(pass)
		markIssued(marks, pass, outcome, now)
	}
	if status.IsPaused(pass.config) {
		marks.Pause()
	}
	outcome.Mark(marks)
	marks.Apply(pass.config, now)
}

// report writes everything of the status that is no condition.
func report(pass *scope) {
	written, seen := &pass.config.Status, pass.seen
	written.SecretRef, written.ExpiresAt, written.Server = nil, nil, ""
	if seen.secret == nil || !seen.shared && !ours(pass.config, *seen) {
		return
	}
	written.SecretRef = new(seen.ref)
	target, err := kube.Target(seen.secret.Data[clusterprovisionerv1alpha1.KubeconfigSecretKey])
	if err != nil {
		return
	}
	written.Server = target.Host
	if expires := expiry(pass, target); !expires.IsZero() {
		written.ExpiresAt = new(metav1.NewTime(expires.Truncate(time.Second)))
	}
	if isToken(pass.config) {
		written.ServiceAccount = accountOf(pass.config)
	}
}

// expiry returns when the credential ends; zero where it does not say.
func expiry(pass *scope, target *rest.Config) time.Time {
	if isToken(pass.config) {
		expires, err := time.Parse(time.RFC3339, pass.seen.secret.Annotations[annotationExpires])
		if err != nil {
			return time.Time{}
		}
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

func markIssued(marks *status.Marks, pass *scope, outcome flow.Outcome, now time.Time) {
	written := pass.config.Status
	switch {
	case written.SecretRef == nil && outcome.Reason() != "":
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, outcome.Reason(), outcome.Message())
	case written.SecretRef == nil:
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonKubeconfigMissing, "")
	case written.ExpiresAt != nil && !now.Before(written.ExpiresAt.Time):
		marks.False(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonExpired, "the credential has ended")
	default:
		marks.True(clusterprovisionerv1alpha1.ConditionIssued, clusterprovisionerv1alpha1.ReasonIssued,
			fmt.Sprintf("Secret %s/%s", written.SecretRef.Namespace, written.SecretRef.Name))
	}
}
