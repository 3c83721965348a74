// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/windlass-operator/windlass/internal/config"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestEveryControllerHasARoleOfItsOwn compares the shipped roles with what --controllers knows.
func TestEveryControllerHasARoleOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testkit.Root(), "config", "rbac", "controllers")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var roles, listed []string
	for _, entry := range entries {
		if entry.IsDir() {
			roles = append(roles, entry.Name())
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			listed = append(listed, name)
		}
	}
	want := slices.Sorted(slices.Values(controllerNames()))
	if diff := cmp.Diff(want, roles); diff != "" {
		t.Errorf("config/rbac/controllers has other roles than there are controllers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("its kustomization lists other roles than there are controllers (-want +got):\n%s", diff)
	}
}

// TestAttackNoRoleReadsSecretsOfEveryNamespace is about the manager's ClusterRole: an attacker in the manager, or a user who named a
// Secret in a spec, could read every Secret of the cluster.
func TestAttackNoRoleReadsSecretsOfEveryNamespace(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testkit.Root(), "config", "rbac", "controllers", "*", "role.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no roles: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(raw), "---\n") {
			var role rbacv1.ClusterRole
			if err := utilyaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatal(err)
			}
			for _, rule := range role.Rules {
				if role.Kind == "ClusterRole" && slices.ContainsFunc(rule.Resources, func(resource string) bool {
					return resource == "*" || resource == "secrets" || resource == "configmaps"
				}) {
					t.Errorf("%s: ClusterRole %q grants %v on %v", file, role.Name, rule.Verbs, rule.Resources)
				}
			}
		}
	}
}

// TestToolsAsJobsHaveARoleOfTheirOwn holds what --tool-runner=job takes against what the manager needs: nothing in other namespaces, and
// nothing where tools are processes.
func TestToolsAsJobsHaveARoleOfTheirOwn(t *testing.T) {
	t.Parallel()
	shipped := filepath.Join(testkit.Root(), "config")
	raw, err := os.ReadFile(filepath.Join(shipped, "rbac", "tools-as-jobs", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := utilyaml.UnmarshalStrict(raw, &role); err != nil {
		t.Fatal(err)
	}
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"create", "delete", "get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}},
	}
	if diff := cmp.Diff(want, role.Rules); diff != "" || role.Kind != "Role" || role.Namespace != "windlass-system" {
		t.Errorf("%s %s/%s grants (-want +got):\n%s", role.Kind, role.Namespace, role.Name, diff)
	}
	for _, applied := range []string{"default", "rbac", "gateway-in-manager"} {
		raw, err := os.ReadFile(filepath.Join(shipped, applied, "kustomization.yaml"))
		if err != nil || strings.Contains(string(raw), "tools-as-jobs") {
			t.Errorf("config/%s grants it, although its tools are processes (%v)", applied, err)
		}
	}
}

// TestWhatCachesReadIsAskedFor holds the rights that are asked for at the start against what the caches read: a cache that may not list
// never fills.
func TestWhatCachesReadIsAskedFor(t *testing.T) {
	t.Parallel()
	conf := config.Default(controllerNames()...)
	conf.LeaseLockNamespace = "elsewhere"
	conf.MetricsSecure, conf.Clusters.ToolRunner = true, config.ToolRunnerJob
	for _, c := range controllers() {
		needed, err := neededRights(&conf, []controller{c})
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for _, one := range needed {
			asked[one.asked.Verb+" "+resourceOf(&one.asked)] = true
		}
		read, err := neededKinds([]controller{c}, kube.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		for _, gvk := range read {
			plural, _ := apimeta.UnsafeGuessKindToResource(gvk)
			for _, verb := range []string{"list", "watch"} {
				if right := verb + " " + plural.GroupResource().String(); !asked[right] {
					t.Errorf("controller %q reads %s, but nobody asks whether it may %s", c.name, gvk.Kind, right)
				}
			}
		}
		for _, right := range []string{
			`get leases.coordination.k8s.io "windlass" in the namespace "elsewhere"`, "create tokenreviews.authentication.k8s.io",
			`create pods/exec in the namespace "elsewhere"`,
		} {
			if !asked[right] {
				t.Errorf("nobody asks whether the manager may %s", right)
			}
		}
	}
}
