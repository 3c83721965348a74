// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

func admin(config *clusterprovisionerv1alpha1.Kubeconfig) {
	config.Spec.Type = clusterprovisionerv1alpha1.KubeconfigAdmin
}

// of makes the Kubeconfig one of the stage's cluster.
func (s *stage) of(config *clusterprovisionerv1alpha1.Kubeconfig) {
	config.Spec.ClusterRef = &clusterprovisionerv1alpha1.ClusterReference{Name: s.cluster.Name}
}

// made returns what a token of that account is made of, in the cluster.
func made(account string) []client.Object {
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: account}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account}},
	}
}

// silence lets the kubeconfig of the stage's cluster lead to a server that does not answer.
func (s *stage) silence() {
	s.t.Helper()
	away := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	testkit.Edit(s.t, s.Harness, away, func(secret *corev1.Secret) {
		secret.Data["value"] = bytes.ReplaceAll(secret.Data["value"], []byte(s.Config.Host), []byte("https://127.0.0.1:"+testkit.SilentPort(s.t)))
	})
}

func TestATokenOutlivesTheChangeToAdmin(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	secret := s.secret(config)
	testkit.Edit(t, s.Harness, config, admin)
	s.Settle(t, s.r, config)
	for _, object := range append(made(accountOf(config)), secret) {
		if s.Get(t, object) {
			t.Errorf("%T %q is still there", object, object.GetName())
		}
	}
	s.holds(config, s.cluster.Name+"-kubeconfig")
	if config.Status.ServiceAccount != "" || len(config.Finalizers) != 0 {
		t.Errorf("the ServiceAccount is %q, finalizers are %v", config.Status.ServiceAccount, config.Finalizers)
	}
}

// TestATokenOfALongNameOutlivesTheChange is about a name that the status had no room for, so that nobody knew what to revoke.
func TestATokenOfALongNameOutlivesTheChange(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token, func(c *clusterprovisionerv1alpha1.Kubeconfig) {
		c.GenerateName, c.Name = "", strings.Repeat("long-", 13)+s.namespace
	})
	if config.Status.ServiceAccount != accountOf(config) {
		t.Errorf("the status names the ServiceAccount %q", config.Status.ServiceAccount)
	}
	former := made(accountOf(config))
	testkit.Edit(t, s.Harness, config, func(c *clusterprovisionerv1alpha1.Kubeconfig) { c.Spec.ServiceAccount = "other-" + s.namespace })
	s.Settle(t, s.r, config)
	for _, object := range former {
		if s.Get(t, object) {
			t.Errorf("%T %q is still there", object, object.GetName())
		}
	}
}

func TestATokenOutlivesAKubeconfigThatBecameAdmin(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	testkit.Edit(t, s.Harness, config, admin)
	if err := s.Live.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s.SettleKey(t, s.r, client.ObjectKeyFromObject(config))
	for _, object := range append(made(accountOf(config)), config) {
		if s.Get(t, object) {
			t.Errorf("%T %q is still there", object, object.GetName())
		}
	}
}

// TestATokenOutlivesTheChangeToAnotherCluster has one API server play both clusters: what was made in the former one is made anew.
func TestATokenOutlivesTheChangeToAnotherCluster(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	inside := s.enter(s.secret(config))
	s.provisioned()
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { s.of(k); s.into("elsewhere")(k) })
	s.Settle(t, s.r, config)
	s.holds(config, "elsewhere")
	testkit.Eventually(t, "the token of the former cluster is worth nothing", func() bool {
		return apierrors.IsUnauthorized(inside.List(t.Context(), &corev1.PodList{}))
	})
}

// TestATokenOfAFormerClusterIsForgotten has a former cluster that does not answer: nothing is issued in the other one until it is given up.
func TestATokenOfAFormerClusterIsForgotten(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	former := s.cluster.Name
	s.silence()
	s.provisioned()
	other := "other-" + config.Name
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { s.of(k); k.Spec.ServiceAccount = other })
	s.Settle(t, s.r, config)
	s.is(config, status.Reconciling, `True ClusterNotReady: waiting for Cluster "`+former+`" to answer, so that the token can be revoked; to go on `+
		"without that, annotate this Kubeconfig with clusterprovisioner.rke.io/skip-revocation=true")
	if got, want := config.Status.ServiceAccount, "windlass-"+config.Name; got != want {
		t.Errorf("the ServiceAccount in the status is %q, want %q", got, want)
	}
	if s.Get(t, made(other)[0]) {
		t.Error("the other cluster has a ServiceAccount already")
	}
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) {
		k.Annotations = map[string]string{clusterprovisionerv1alpha1.SkipRevocationAnnotation: "true"}
	})
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	if !s.Get(t, made(other)[0]) {
		t.Error("the other cluster has no ServiceAccount")
	}
}

func TestATokenOfAFormerClusterThatIsGoneIsLetGo(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	gone := s.cluster
	s.provisioned()
	testkit.Edit(t, s.Harness, config, s.of)
	if err := s.Live.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
}

// TestAServiceAccountIsForgottenWhileItsClusterIsAway is about a status that named the account of the spec before there was one.
func TestAServiceAccountIsForgottenWhileItsClusterIsAway(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	before := made(accountOf(config))
	answering := s.admin()
	s.silence()
	testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ServiceAccount = "other-" + k.Name })
	s.Settle(t, s.r, config)
	back := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	testkit.Edit(t, s.Harness, back, func(secret *corev1.Secret) { secret.Data["value"] = answering })
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	for _, object := range before {
		if s.Get(t, object) {
			t.Errorf("%T %q is still there", object, object.GetName())
		}
	}
}

// TestATokenOutlivesAnEditWhileItIsIssued has somebody change the spec just before the Secret is written: the write of the status that would have
// told of the first ServiceAccount was refused.
func TestATokenOutlivesAnEditWhileItIsIssued(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := &clusterprovisionerv1alpha1.Kubeconfig{ObjectMeta: metav1.ObjectMeta{Name: "way-" + s.namespace}}
	token(config)
	s.of(config)
	first, other := accountOf(config), "other-"+s.namespace
	s.r.direct = testkit.Meanwhile(s.Direct, func(runtime.ApplyConfiguration) {
		for _, object := range made(first) {
			if config.Spec.ServiceAccount == "" && !s.Get(t, object) {
				t.Errorf("%T %q was not made", object, first)
			}
		}
		testkit.Edit(t, s.Harness, config, func(k *clusterprovisionerv1alpha1.Kubeconfig) { k.Spec.ServiceAccount = other })
	})
	s.Create(t, config)
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
	for _, object := range made(first) {
		if s.Get(t, object) {
			t.Errorf("%T %q is still there", object, first)
		}
	}
}

// TestAClusterThatIsAwayIsAskedForATokenEachSecond is about a cluster that nobody listens for: it was taken for the API server of Windlass, and one
// that answered nothing was asked ever more rarely, so that a token stayed expired for long after the cluster was back.
func TestAClusterThatIsAwayIsAskedForATokenEachSecond(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	answering := s.admin()
	s.silence()
	config := s.create(token)
	told := `True ClusterNotReady: waiting for Cluster "` + s.cluster.Name + `" to answer, so that a token can be issued`
	s.is(config, status.Reconciling, told)
	result, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(config))
	if err != nil || result.RequeueAfter < lookAgain/3 || result.RequeueAfter > lookAgain {
		t.Errorf("the pass ends with %+v and %v, want to look again after %v", result, err, lookAgain/3)
	}
	back := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	testkit.Edit(t, s.Harness, back, func(secret *corev1.Secret) { secret.Data["value"] = answering })
	s.Settle(t, s.r, config)
	s.holds(config, config.Name+"-kubeconfig")
}

// TestATokenOutlivesItsKubeconfigWhileItsClusterIsDeleted is about a Cluster that is paused while it is deleted, or whose removal fails and is then given
// up: its machines stay, and had a token of which nobody knew.
func TestATokenOutlivesItsKubeconfigWhileItsClusterIsDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*stage)
		left   bool
	}{
		"it answers":             {before: func(*stage) {}},
		"it does not answer":     {before: (*stage).silence, left: true},
		"it has no kubeconfig":   {before: (*stage).hide, left: true},
		"it refuses the request": {before: func(s *stage) { s.r.fence = refusing }, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.provisioned()
			config := s.create(token)
			account := made(accountOf(config))[0]
			s.Events.Take()
			testkit.Edit(t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = []string{"test.windlass.io/held"} })
			for _, object := range []client.Object{s.cluster, config} {
				if err := s.Live.Delete(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			test.before(s)
			if _, err := s.Reconcile(t, s.r, client.ObjectKeyFromObject(config)); err != nil {
				t.Fatal(err)
			}
			if s.Get(t, config) {
				t.Error("the Kubeconfig is still there")
			}
			if got := s.Get(t, account); got != test.left {
				t.Errorf("the ServiceAccount is there: %t, want %t", got, test.left)
			}
			if got := slices.Contains(s.Events.Reasons(), clusterprovisionerv1alpha1.ReasonClusterNotReady); got != test.left {
				t.Errorf("there is a Warning: %t, want %t", got, test.left)
			}
			testkit.Edit(t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) { c.Finalizers = nil })
		})
	}
}

// hide deletes the kubeconfig of the stage's cluster, as a deletion in the foreground does.
func (s *stage) hide() {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.cluster.Name + "-kubeconfig"}}
	if err := s.Live.Delete(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
}

// refusing lets nothing be deleted.
func refusing(next http.RoundTripper) http.RoundTripper { return refuser{next} }

type refuser struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (r refuser) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodDelete {
		return nil, errors.New("not allowed")
	}
	return r.RoundTripper.RoundTrip(request)
}
