// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// elsewhere has the kubeconfig go to another namespace, and returns that, what allows to read there and what forbids it, and what KubeconfigAvailable says
// while it is forbidden.
func (s *stage) elsewhere() (to func(*clusterprovisionerv1alpha1.Cluster), allow, forbid func(), told string) {
	s.t.Helper()
	other, direct := s.Namespace(s.t), s.r.direct
	s.r.subject = "--serviceaccount=windlass-system:windlass"
	to = func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.KubeconfigSecretRef = &corev1.SecretReference{Namespace: other, Name: "access"}
	}
	return to, func() { s.r.direct = direct }, func() { s.r.direct = testkit.Forbid(direct, other) },
		"False SecretForbidden: Windlass may not read Secret " + other + "/access: name another in spec.kubeconfigSecretRef, or run: kubectl -n " + other +
			" create rolebinding windlass-kubeconfigs --clusterrole=windlass-kubeconfig-writer --serviceaccount=windlass-system:windlass"
}

// TestASecretThatMayNotBeWrittenHoldsItsCluster is about a namespace that lets Windlass read Secrets only, or is not there: each pass failed before the
// cluster was probed, and no change of the configuration was applied. Ready said that the tool had written no kubeconfig.
func TestASecretThatMayNotBeWrittenHoldsItsCluster(t *testing.T) {
	for name, test := range map[string]struct {
		err  func(namespace string) error
		told string
	}{
		"it may only be read": {testkit.Unbound, "Windlass may not write Secret NAMESPACE/access: name another in spec.kubeconfigSecretRef, or run: kubectl -n NAMESPACE " +
			"create rolebinding windlass-kubeconfigs --clusterrole=windlass-kubeconfig-writer --serviceaccount=windlass-system:windlass"},
		"the namespace is not there": {
			func(namespace string) error {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, namespace)
			},
			"cannot write Secret NAMESPACE/access: namespaces \"NAMESPACE\" not found: name another in spec.kubeconfigSecretRef",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			to, allow, _, _ := s.elsewhere()
			s.create()
			s.ready()
			s.edit(to)
			other := s.cluster.Spec.KubeconfigSecretRef.Namespace
			s.r.direct = testkit.ReadOnly(s.r.direct, other, test.err(other))
			s.file("cluster.yml", configText+"ssh_agent_auth: true\n")
			s.until("the change is applied", func() bool { return s.calls() == "2 up" && s.cluster.Status.Plan == nil })
			s.settled()
			told := "False SecretForbidden: " + strings.ReplaceAll(test.told, "NAMESPACE", other)
			if !s.is(clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, told) || !s.is(status.Ready, told) ||
				!s.is(clusterprovisionerv1alpha1.ConditionHealthy, "True Answering") {
				t.Errorf("want %q, the conditions are %+v", told, s.cluster.Status.Conditions)
			}
			if former := s.cluster.Status.KubeconfigRef; former == nil || former.Namespace != s.namespace {
				t.Errorf("the status names the Secret %v", former)
			}
			s.secret(clusterprovisionerv1alpha1.KubeconfigSecretSuffix)
			allow()
			s.ready()
			if ref := s.cluster.Status.KubeconfigRef; ref == nil || ref.Namespace != other {
				t.Errorf("the status names the Secret %v", ref)
			}
		})
	}
}

// TestAFormerSecretThatMayNotBeDeletedHoldsItsCluster is the same for the Secret that the kubeconfig went to before.
func TestAFormerSecretThatMayNotBeDeletedHoldsItsCluster(t *testing.T) {
	s := newStage(t)
	to, _, _, _ := s.elsewhere()
	s.create(to)
	s.ready()
	other := s.cluster.Spec.KubeconfigSecretRef.Namespace
	s.r.direct = testkit.ReadOnly(s.r.direct, other, testkit.Unbound(other))
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.KubeconfigSecretRef = nil })
	s.until("the kubeconfig has moved", func() bool { return s.cluster.Status.KubeconfigRef.Namespace == s.namespace })
	s.ready()
	s.settled()
}

// TestANamespaceThatMayNotBeReadHoldsItsCluster is about kubeconfigSecretRef: before somebody had allowed Windlass to read Secrets there, and after the
// namespace was deleted with its RoleBinding, each pass failed before it decided on anything. The Cluster could not even be deleted.
func TestANamespaceThatMayNotBeReadHoldsItsCluster(t *testing.T) {
	const healthy = "True Answering"
	t.Run("before it is allowed", func(t *testing.T) {
		s := newStage(t)
		to, allow, forbid, told := s.elsewhere()
		forbid()
		s.create(to)
		s.becomes(clusterprovisionerv1alpha1.ConditionHealthy, healthy)
		s.settled()
		if !s.is(clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, told) || !s.is(status.Ready, told) || s.cluster.Status.KubeconfigRef != nil {
			t.Errorf("want %q, the status is %+v", told, s.cluster.Status)
		}
		allow()
		s.ready()
		if got := s.calls(); got != "1 up" {
			t.Errorf("the tool was called for %q", got)
		}
	})
	t.Run("after the namespace is gone", func(t *testing.T) {
		s := newStage(t)
		to, _, forbid, told := s.elsewhere()
		s.create(to)
		s.ready()
		s.settled()
		forbid()
		s.file("cluster.yml", configText+"ssh_agent_auth: true\n")
		s.until("the change is applied", func() bool { return s.calls() == "2 up" && s.cluster.Status.Plan == nil })
		s.becomes(clusterprovisionerv1alpha1.ConditionKubeconfigAvailable, told)
		if !s.is(clusterprovisionerv1alpha1.ConditionHealthy, healthy) {
			t.Errorf("the conditions are %+v", s.cluster.Status.Conditions)
		}
		s.delete()
		s.gone()
		if got := s.calls(); got != "2 up, 1 remove" {
			t.Errorf("the tool was called for %q", got)
		}
	})
	t.Run("the machines stay", func(t *testing.T) {
		s := newStage(t)
		to, _, forbid, _ := s.elsewhere()
		s.create(to, func(c *clusterprovisionerv1alpha1.Cluster) {
			c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
		})
		s.ready()
		forbid()
		s.delete()
		s.gone()
		if got := s.calls(); got != "1 up" {
			t.Errorf("the tool was called for %q", got)
		}
	})
}
