// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestAttackNothingIsGrantedAtLarge reads every role that the chart renders with all options: none has a wildcard, and none that is bound
// for all namespaces reads Secrets.
func TestAttackNothingIsGrantedAtLarge(t *testing.T) {
	t.Parallel()
	manifest, err := render(t, allValues)
	if err != nil {
		t.Fatal(err)
	}
	roles, bound := map[string][]rbacv1.PolicyRule{}, map[string]bool{}
	for id, content := range decode(t, manifest) {
		var role rbacv1.ClusterRole // a Role has the same fields
		var binding rbacv1.ClusterRoleBinding
		switch kind, _, _ := strings.Cut(id, " "); kind {
		case "ClusterRole", "Role":
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &role)
			roles[id] = role.Rules
		case "ClusterRoleBinding":
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, &binding)
			bound[binding.RoleRef.Kind+" "+binding.RoleRef.Name] = true
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(roles) < 10 || len(bound) < 6 {
		t.Errorf("there are %d roles and %d bindings for all namespaces: some are not read", len(roles), len(bound))
	}
	for id, rules := range roles {
		for _, rule := range rules {
			if slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs), "*") {
				t.Errorf("%s has a wildcard: %v", id, rule)
			}
			if bound[id] && slices.Contains(rule.Resources, "secrets") {
				t.Errorf("%s reads Secrets of all namespaces: %v", id, rule)
			}
		}
	}
}
