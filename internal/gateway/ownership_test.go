// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// TestCallersDoNotConflictWithThemselves creates, scales and applies with one field manager. The API server tells these three
// apart and called the second and the third one conflicts.
func TestCallersDoNotConflictWithThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	deployment := func(replicas, image, extra string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"` + extra + `},"spec":{"replicas":` + replicas +
			`,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"` +
			image + `"}]}}}}`
	}
	path := "/v1/deployments/" + ns + "/web"
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		holds                    string
	}{
		{"it is created", http.MethodPost, "/v1/deployments?ns=" + ns, deployment("1", "web:1", `,"annotations":{"kept":"yes"}`), 201, `"image":"web:1"`},
		{"a dry run of a change shows it", http.MethodPut, path + "?dryRun=All", deployment("1", "web:2", ""), 200, `"image":"web:2"`},
		{"the change is applied", http.MethodPut, path, deployment("1", "web:2", ""), 200, `"image":"web:2"`},
		{"what the change does not name stays", http.MethodGet, path, "", 200, `"kept":"yes"`},
		{"it is scaled", http.MethodPatch, path + "/scale", `{"replicas":3}`, 200, `"replicas":3`},
		{"the number is applied", http.MethodPut, path, deployment("2", "web:2", ""), 200, `"replicas":2`},
		{"another manager conflicts", http.MethodPut, path + "?fieldManager=windlass-console-other", deployment("2", "web:3", ""), 409, `conflict with \"windlass-api\"`},
		{"another manager takes over", http.MethodPut, path + "?fieldManager=windlass-console-other&force=true", deployment("2", "web:3", ""), 200, `"image":"web:3"`},
		{"and is not overruled", http.MethodPut, path, deployment("2", "web:4", ""), 409, `conflict with \"windlass-console-other\"`},
		{"a wrong version is refused", http.MethodPut, path, deployment("2", "web:3", `,"resourceVersion":"1"`), 409, "modified"},
	} {
		got := r.do(t, step.method, step.path, admin, step.body)
		if got.status != step.status || !strings.Contains(string(got.body), step.holds) {
			t.Fatalf("%s: status %d, want %d with %s: %s", step.name, got.status, step.status, step.holds, got.body)
		}
	}
	if lines := r.log.with(`"method"="PATCH"`); len(lines) != 8 {
		t.Errorf("eight requests leave %d lines: %q", len(lines), lines)
	}
}
