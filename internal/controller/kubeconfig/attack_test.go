// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestAttackAStatusNamesTheSecretOfAnother is about people who can write the status of a Cluster: they had Kubeconfigs copy any Secret with
// a kubeconfig, of any namespace.
func TestAttackAStatusNamesTheSecretOfAnother(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	other := s.Namespace(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "theirs"},
		Data:       map[string][]byte{"value": leadingTo("https://127.0.0.1:1")},
	}
	s.Create(t, secret)
	testkit.EditStatus(t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Status.KubeconfigRef = &corev1.SecretReference{Namespace: other, Name: "theirs"}
	})
	own := s.create()
	s.holds(own, s.cluster.Name+"-kubeconfig")
	copied := s.create(func(c *clusterprovisionerv1alpha1.Kubeconfig) {
		c.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.namespace, Name: "copy"}
	})
	s.holds(copied, "copy")
	short := s.create(token)
	s.holds(short, short.Name+"-kubeconfig")
	for name, config := range map[string]*clusterprovisionerv1alpha1.Kubeconfig{"the Cluster's own": own, "a copy": copied, "a token": short} {
		if config.Status.Server != s.Config.Host {
			t.Errorf("%s leads to %s", name, config.Status.Server)
		}
	}
}

// TestASecretThatTheClusterDidNotWriteIsNotRead is about a spec that names a Secret of somebody else: it is not the Cluster's kubeconfig.
func TestASecretThatTheClusterDidNotWriteIsNotRead(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	other := s.Namespace(t)
	s.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "theirs"}, Data: map[string][]byte{"value": s.admin()},
	})
	testkit.Edit(t, s.Harness, s.cluster, func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.KubeconfigSecretRef = &corev1.SecretReference{Namespace: other, Name: "theirs"}
	})
	config := s.create(func(c *clusterprovisionerv1alpha1.Kubeconfig) {
		c.Spec.WriteSecretToRef = &corev1.SecretReference{Namespace: s.namespace, Name: "copy"}
	})
	s.is(config, status.Reconciling, "True ClusterNotReady: waiting for Cluster "+`"`+s.cluster.Name+`" to have a kubeconfig`)
	if s.Get(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "copy"}}) {
		t.Error("the Secret was copied")
	}
}

// TestAttackAClusterNamesTheSecretOfAnother is about people who can write Clusters and read Kubeconfigs: the status said where any Secret leads to, and
// when its certificate expires.
func TestAttackAClusterNamesTheSecretOfAnother(t *testing.T) {
	s := newStage(t)
	other := s.Namespace(t)
	s.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "theirs"}, Data: map[string][]byte{"value": s.admin()},
	})
	s.cluster = &clusterprovisionerv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "one-"},
		Spec: clusterprovisionerv1alpha1.ClusterSpec{
			ConfigPath: "/does/not/matter", KubeconfigSecretRef: &corev1.SecretReference{Namespace: other, Name: "theirs"},
		},
	}
	s.Create(t, s.cluster)
	config := s.create()
	waits := "False ClusterNotReady: waiting for Cluster " + `"` + s.cluster.Name + `" to have a kubeconfig`
	s.is(config, status.Ready, waits)
	s.is(config, clusterprovisionerv1alpha1.ConditionIssued, waits)
	ignored := cmpopts.IgnoreFields(config.Status, "ObservedGeneration", "OriginalUID", "Conditions")
	if diff := cmp.Diff(clusterprovisionerv1alpha1.KubeconfigStatus{}, config.Status, ignored); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	if reasons := s.Events.Reasons(); len(reasons) != 0 {
		t.Errorf("got the events %v, want none", reasons)
	}
}

// TestAttackASecretLetsItsTokenOutliveTheKubeconfig is about people who can write the Secret with their token: one that said that it was issued in
// a cluster which is not there had nothing revoked.
func TestAttackASecretLetsItsTokenOutliveTheKubeconfig(t *testing.T) {
	s := newStage(t)
	s.provisioned()
	config := s.create(token)
	testkit.Edit(t, s.Harness, s.secret(config), func(secret *corev1.Secret) {
		secret.Annotations[annotationFor] = "nowhere/nobody/view/3600"
	})
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
