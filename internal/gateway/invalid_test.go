// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestUnknownFieldsAre422 sends objects with unknown fields and wrong types. An apply of them used to be answered 500.
func TestUnknownFieldsAre422(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	tests := map[string]struct{ kind, body, post, put string }{
		"an unknown field":           {"services", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"prots":[]}}`, "spec.prots", "spec.prots"},
		"an unknown field of a CRD":  {"podsets", `{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a"},"spec":{"size":1,"sise":1}}`, "spec.sise", "spec.sise"},
		"a wrong type":               {"services", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":"x"}}`, "spec.ports", "spec.ports"},
		"a wrong type of a CRD":      {"podsets", `{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a"},"spec":{"size":"x"}}`, "spec.size", "spec.size"},
		"labels of the wrong type":   {"services", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","labels":1}}`, "metadata.labels", "metadata.labels"},
		"a name of the wrong type":   {"services", `{"apiVersion":"v1","kind":"Service","metadata":{"name":1}}`, "metadata.name", "metadata.name"},
		"metadata of the wrong type": {"services", `{"apiVersion":"v1","kind":"Service","metadata":"a"}`, "metadata", "metadata"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, request := range []struct{ method, path, want string }{
				{http.MethodPost, "/v1/" + test.kind + "?ns=" + ns, test.post}, {http.MethodPut, "/v1/" + test.kind + "/" + ns + "/a", test.put},
			} {
				got := r.do(t, request.method, request.path, admin, test.body)
				var locations []string
				for _, field := range got.problem(t).Errors {
					locations = append(locations, field.Location)
				}
				if !slices.Contains(locations, request.want) || got.status != http.StatusUnprocessableEntity {
					t.Errorf("%s: status %d with the fields %q, want %q: %s", request.method, got.status, locations, request.want, got.body)
				}
			}
		})
	}
}

// TestOnlyCallersWhoMayWriteAreParsed sends YAML that expands to gigabytes. Callers without the right learn nothing about their
// body; all others learn that it is too large, at the cost of its text.
func TestOnlyCallersWhoMayWriteAreParsed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, nobody := r.user(t, "", everything()), r.user(t, "default")
	ns := r.Namespace(t)
	bomb := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\na: &a [" + strings.Repeat("x,", 10_000) + "x]\nb: [" + strings.Repeat("*a,", 10_000) + "*a]\n"
	for _, request := range []struct{ method, path string }{
		{http.MethodPost, "/v1/services?ns=" + ns}, {http.MethodPut, "/v1/services/" + ns + "/a"},
	} {
		for body, reason := range map[string]string{bomb: "RequestEntityTooLarge", "a: [": "BadRequest"} {
			got := r.do(t, request.method, request.path, nobody, body, "Content-Type", mediaYAML)
			if got.status != http.StatusForbidden || len(got.problem(t).Kubernetes) == 0 {
				t.Errorf("%s of a caller without rights: %d %s", request.method, got.status, got.body)
			}
			got = r.do(t, request.method, request.path, admin, body, "Content-Type", mediaYAML)
			if !strings.HasSuffix(got.problem(t).Type, ":"+reason) {
				t.Errorf("%s of a caller with rights: %d %s", request.method, got.status, got.body)
			}
		}
	}
	// Without a namespace in the path, the one in the body decides, so it has to be parsed.
	if got := r.do(t, http.MethodPost, "/v1/services", nobody, bomb, "Content-Type", mediaYAML); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("without a namespace: %d %s", got.status, got.body)
	}
}
