// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// shipped are the objects of a kind in the manifests of a folder, by their file and number.
func shipped[T any](t *testing.T, folder, kind string) map[string]*T {
	t.Helper()
	out := map[string]*T{}
	must(t, filepath.WalkDir(filepath.Join(testkit.Root(), folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, document := range strings.Split(string(raw), "\n---\n") {
			var is metav1.TypeMeta
			if yaml.Unmarshal([]byte(document), &is) != nil || is.Kind != kind || strings.Contains(is.APIVersion, "kustomize") {
				continue
			}
			object := new(T)
			must(t, yaml.UnmarshalStrict([]byte(document), object))
			out[fmt.Sprintf("%s#%d", path, i)] = object
		}
		return nil
	}))
	if len(out) == 0 {
		t.Fatalf("%s has no %s", folder, kind)
	}
	return out
}

// TestBindingsBindWhatThereIs is the sixth: a role with a stray character in its name was bound by nobody, and everything was applied
// without a word.
func TestBindingsBindWhatThereIs(t *testing.T) {
	t.Parallel()
	roles := map[string]bool{}
	for _, role := range shipped[rbacv1.ClusterRole](t, "config", "ClusterRole") {
		roles["ClusterRole/"+role.Name] = true
	}
	for _, role := range shipped[rbacv1.Role](t, "config", "Role") {
		roles["Role/"+role.Name] = true
	}
	accounts := map[string]bool{}
	for _, account := range shipped[corev1.ServiceAccount](t, "config", "ServiceAccount") {
		accounts[account.Namespace+"/"+account.Name] = true
	}
	check := func(where, name string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
		if !roles[ref.Kind+"/"+ref.Name] || len(subjects) == 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Errorf("%s: binding %q is to %+v, which is not there", where, name, ref)
		}
		for _, subject := range subjects {
			if subject.Kind == "ServiceAccount" && !accounts[subject.Namespace+"/"+subject.Name] {
				t.Errorf("%s: binding %q is for %+v, who is not there", where, name, subject)
			}
		}
	}
	for where, binding := range shipped[rbacv1.ClusterRoleBinding](t, "config", "ClusterRoleBinding") {
		check(where, binding.Name, binding.RoleRef, binding.Subjects)
	}
	for where, binding := range shipped[rbacv1.RoleBinding](t, "config", "RoleBinding") {
		check(where, binding.Name, binding.RoleRef, binding.Subjects)
	}
}

// TestAccountsNameNoSecrets is the seventh: an account named a Secret that exists in one cluster of the world.
func TestAccountsNameNoSecrets(t *testing.T) {
	t.Parallel()
	for where, account := range shipped[corev1.ServiceAccount](t, "config", "ServiceAccount") {
		if len(account.Secrets)+len(account.ImagePullSecrets) > 0 || account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			t.Errorf("%s: account %q names Secrets, or gives its token to every Pod that runs as it", where, account.Name)
		}
	}
}

// TestAccountMayWriteNothing is the other half: its account could delete nodes.
func TestAccountMayWriteNothing(t *testing.T) {
	t.Parallel()
	var role *rbacv1.ClusterRole
	for _, candidate := range shipped[rbacv1.ClusterRole](t, "config/rbac", "ClusterRole") {
		if candidate.Name == "windlass-gateway" {
			role = candidate
		}
	}
	if role == nil {
		t.Fatal("the role of the gateway is not there")
	}
	got := map[string][]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			got[rule.APIGroups[0]+"/"+resource] = rule.Verbs
		}
	}
	want := map[string][]string{
		"authentication.k8s.io/tokenreviews": {"create"}, "authorization.k8s.io/subjectaccessreviews": {"create"},
		"metrics.k8s.io/nodes": {"list"},
	}
	for _, k := range view.Kinds() {
		if k.Uncached {
			continue
		}
		want[k.GVK.Group+"/"+k.Plural] = []string{"get", "list", "watch"}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights of the gateway (-want by the table of kinds +got):\n%s", diff)
	}
}
