// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// bind is the end of what a condition says of a Secret in a namespace that Windlass may not read.
func bind(namespace string) string {
	return ", or run: kubectl -n " + namespace + " create rolebinding windlass-kubeconfigs --clusterrole=windlass-kubeconfig-writer " +
		"--serviceaccount=windlass-system:windlass"
}

// ended holds that the Kubeconfig is gone with what was made in the cluster for it.
func (s *stage) ended(config *clusterprovisionerv1alpha1.Kubeconfig) {
	s.t.Helper()
	s.SettleKey(s.t, s.r, client.ObjectKeyFromObject(config))
	for _, object := range append(made(accountOf(config)), config) {
		if s.Get(s.t, object) {
			s.t.Errorf("%T %q is still there", object, object.GetName())
		}
	}
}

// TestANamespaceThatMayNotBeReadHoldsItsKubeconfig is about writeSecretToRef of a namespace that is gone with its RoleBinding: each pass failed, the
// Kubeconfig could not be deleted, and its token was not revoked.
func TestANamespaceThatMayNotBeReadHoldsItsKubeconfig(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	s.r.subject = "--serviceaccount=windlass-system:windlass"
	other := s.Namespace(t)
	written := &corev1.SecretReference{Namespace: other, Name: "access"}
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.WriteSecretToRef = written })
	s.is(config, status.Ready, "True Ready: Secret "+other+"/access holds the kubeconfig")
	s.r.direct = testkit.Forbid(s.Direct, other)
	s.Settle(t, s.r, config)
	told := "SecretForbidden: Windlass may not read Secret " + other + "/access: name another in spec.writeSecretToRef" + bind(other)
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False "+told)
	s.is(config, status.Stalled, "True "+told)
	if diff := cmp.Diff(written, config.Status.SecretRef); diff != "" {
		t.Errorf("the Secret in the status (-want +got):\n%s", diff)
	}
	s.r.direct = s.Direct
	s.Settle(t, s.r, config)
	s.is(config, status.Ready, "True Ready: Secret "+other+"/access holds the kubeconfig")
	s.r.direct = testkit.Forbid(s.Direct, other)
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.ended(config)
}

// TestATokenOfAClusterWhoseKubeconfigMayNotBeReadIsGivenUpByAPerson is the same for kubeconfigSecretRef of the Cluster: the annotation that gives a token
// up was not looked at.
func TestATokenOfAClusterWhoseKubeconfigMayNotBeReadIsGivenUpByAPerson(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	s.r.subject = "--serviceaccount=windlass-system:windlass"
	other := s.Namespace(t)
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: other, Name: "access"}
	})
	s.r.direct = testkit.Forbid(s.Direct, s.namespace)
	s.Settle(t, s.r, config)
	s.is(config, status.Stalled, "True SecretForbidden: Windlass may not read Secret "+s.namespace+"/"+s.cluster.Name+
		"-kubeconfig: name another in spec.kubeconfigSecretRef of the Cluster"+bind(s.namespace))
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "True Issued: Secret "+other+"/access holds the kubeconfig") // which still works
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	s.is(config, status.Reconciling, s.unread("to delete this Kubeconfig anyway, annotate it"))
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Annotations = map[string]string{clusterprovisionerv1alpha1.SkipRevocationAnnotation: "true"}
	})
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	if s.Get(t, config) {
		t.Error("the Kubeconfig is still there")
	}
}

// unread is what Reconciling says of a token that waits for the right to read the kubeconfig of the stage's cluster.
func (s *stage) unread(skip string) string {
	return `True ClusterNotReady: waiting for Cluster "` + s.cluster.Name + `" to have a kubeconfig that Windlass may read, so that the token can be revoked; ` +
		skip + " with clusterprovisioner.rke.io/skip-revocation=true. Windlass may not read Secret " + s.namespace + "/" + s.cluster.Name +
		"-kubeconfig: name another in spec.kubeconfigSecretRef of the Cluster" + bind(s.namespace)
}

// TestATokenOfAFormerClusterWhoseKubeconfigMayNotBeReadSaysSo is about a Kubeconfig that names another Cluster by now: it waited for the former one to have a
// kubeconfig, which that had, and said nothing of a right.
func TestATokenOfAFormerClusterWhoseKubeconfigMayNotBeReadSaysSo(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	s.r.subject = "--serviceaccount=windlass-system:windlass"
	config := s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.Namespace(t), Name: "access"}
	})
	s.r.direct = testkit.Forbid(s.Direct, s.namespace)
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ClusterRef.Name = "another" })
	s.Settle(t, s.r, config)
	s.is(config, status.Reconciling, s.unread("to go on without that, annotate this Kubeconfig"))
}

// TestTheKubeconfigOfAClusterThatMayNotBeReadSaysSo shares the Cluster's Secret.
func TestTheKubeconfigOfAClusterThatMayNotBeReadSaysSo(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	s.r.direct = testkit.Forbid(s.Direct, s.namespace)
	config := s.create()
	s.is(config, status.Ready, "False SecretForbidden: Windlass may not read Secret "+s.namespace+"/"+s.cluster.Name+"-kubeconfig: …")
}

// TestASecretThatMayNotBeWrittenIsToldOf is about a namespace that lets Windlass read Secrets only, or is not there: each pass failed with Error, and
// made another token in the cluster before.
func TestASecretThatMayNotBeWrittenIsToldOf(t *testing.T) {
	for name, kind := range map[string]func(*clusterprovisionerv1alpha1.Kubeconfig){
		"a token": token, "a copy": func(*clusterprovisionerv1alpha1.Kubeconfig) {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.provisioned()
			s.r.subject = "--serviceaccount=windlass-system:windlass"
			other := s.Namespace(t)
			s.r.direct = testkit.ReadOnly(s.Direct, other, testkit.Unbound(other))
			var tokens atomic.Int32
			s.r.fence = counting(&tokens)
			config := s.create(kind, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
				k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: other, Name: "access"}
			})
			told := "SecretForbidden: Windlass may not write Secret " + other + "/access: name another in spec.writeSecretToRef" + bind(other)
			s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False "+told)
			s.is(config, status.Stalled, "True "+told)
			before := tokens.Load()
			s.Settle(t, s.r, config)
			if got := tokens.Load(); got != before || before > 1 {
				t.Errorf("%d tokens were made, and %d until the first refusal", got, before)
			}
			s.r.direct = s.Direct
			s.Settle(t, s.r, config)
			s.is(config, status.Ready, "True Ready: Secret "+other+"/access holds the kubeconfig")
			s.r.direct = testkit.ReadOnly(s.Direct, other, testkit.Unbound(other))
			if err := s.Live.Delete(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			s.ended(config)
		})
	}
}

// counting counts the tokens that are asked for.
func counting(tokens *atomic.Int32) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return counter{next, tokens} }
}

type counter struct {
	http.RoundTripper

	tokens *atomic.Int32
}

// RoundTrip implements http.RoundTripper.
func (c counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "/token") {
		c.tokens.Add(1)
	}
	return c.RoundTripper.RoundTrip(request)
}

// lockedAway returns a Kubeconfig with a token in another namespace, which it names, and where Windlass may not write any more.
func (s *stage) lockedAway() (config *clusterprovisionerv1alpha1.Kubeconfig, other string) {
	s.t.Helper()
	s.provisioned()
	other = s.Namespace(s.t)
	config = s.create(token, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: other, Name: "access"}
	})
	s.r.direct = testkit.ReadOnly(s.Direct, other, testkit.Unbound(other))
	return config, other
}

// TestAFormerSecretThatMayNotBeDeletedIsToldOf names another Secret, in a namespace that lets Windlass write.
func TestAFormerSecretThatMayNotBeDeletedIsToldOf(t *testing.T) {
	s := newStage(t)
	config, other := s.lockedAway()
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.WriteSecretToRef = nil })
	s.Settle(t, s.r, config)
	s.is(config, status.Stalled, "True SecretForbidden: cannot delete Secret "+other+"/access: …")
	if !s.Get(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: config.Name + "-kubeconfig"}}) {
		t.Error("the kubeconfig is not written")
	}
	s.r.direct = s.Direct
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
}

// Each pass told once more that the token cannot be revoked, for as long as its former Secret might not be deleted.
func TestATokenThatCannotBeRevokedIsToldOfOnce(t *testing.T) {
	s := newStage(t)
	config, _ := s.lockedAway()
	if err := s.Live.Delete(t.Context(), s.cluster); err != nil {
		t.Fatal(err)
	}
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Spec.Type = clusterprovisionerv1alpha1.KubeconfigAdmin
	})
	s.Events.Take()
	for range 3 {
		_, _ = s.Reconcile(t, s.r, client.ObjectKeyFromObject(config))
	}
	count := 0
	for _, reason := range s.Events.Reasons() {
		if reason == clusterprovisionerv1alpha1.ReasonClusterNotFound {
			count++
		}
	}
	if count > 1 {
		t.Errorf("it is told %d times", count)
	}
}

// unaccepting answers for a cluster that does not accept the tokens that it issues.
type unaccepting struct{ counter }

// RoundTrip implements http.RoundTripper.
func (u unaccepting) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Path == "/version" {
		return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody, Request: request}, nil
	}
	return u.counter.RoundTrip(request)
}

// A Kubeconfig was Ready with a token that nobody could enter with, and got another one in each pass.
func TestAClusterThatDoesNotAcceptItsOwnTokens(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	var tokens atomic.Int32
	s.r.fence = func(next http.RoundTripper) http.RoundTripper { return unaccepting{counter{next, &tokens}} }
	s.Settle(t, s.r, config)
	s.is(config, status.Stalled, "True TokenRefused: the Cluster \""+s.cluster.Name+"\" does not accept the tokens that it issues: …")
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, "False Expired: the cluster does not accept the token any more")
	if got := tokens.Load(); got != 1 {
		t.Errorf("%d tokens were made, want one", got)
	}
	s.r.fence = nil
	s.Settle(t, s.r, config)
	s.is(config, status.Ready, "True Ready: …")
}
