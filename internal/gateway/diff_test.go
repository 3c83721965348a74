// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/windlass-operator/windlass/internal/gateway/diff"
)

// difference reads what a write would change, as lines with the owners of the fields, and the conflicts.
func (a answer) difference(t *testing.T) (changes, conflicts []string) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	var of diff.Difference
	must(t, json.Unmarshal(a.body, &of))
	changes, conflicts = []string{}, []string{}
	was, _ := of.Before["metadata"].(map[string]any)
	is, _ := of.After["metadata"].(map[string]any)
	if was != nil && was["resourceVersion"] != is["resourceVersion"] {
		t.Errorf("before and after are of the versions %v and %v", was["resourceVersion"], is["resourceVersion"])
	}
	for _, change := range of.Changes {
		var owners []string
		for _, owner := range change.Owners {
			owners = append(owners, owner.Operation+" by "+owner.Manager)
		}
		changes = append(changes, strings.TrimSpace(fmt.Sprintf("%s: %s > %s %s", change.Path, change.Before, change.After, strings.Join(owners, ", "))))
	}
	for _, conflict := range of.Conflicts {
		conflicts = append(conflicts, conflict.Path+" of "+conflict.Manager)
	}
	return changes, conflicts
}

// deploymentOf returns a Deployment with the image.
func deploymentOf(namespace, image string, more ...string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"` + namespace + `"},"spec":{"selector":{"matchLabels":{"app":"web"}},` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"` + image + `"}]}}` + strings.Join(more, "") + `}}`
}

func TestDifferenceOfAWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin := r.user(t, "", everything())
	path := "/v1/deployments/" + ns + "/web"
	created, conflicts := r.do(t, http.MethodPut, path+"/diff", admin, deploymentOf(ns, "a")).difference(t)
	if len(created) == 0 || !strings.HasPrefix(created[0], `.apiVersion:  > "apps/v1"`) || len(conflicts) > 0 {
		t.Errorf("creating it changes %q with %q", created, conflicts)
	}
	if got := r.do(t, http.MethodGet, path+"?consistent=true", admin, ""); got.status != http.StatusNotFound {
		t.Fatalf("it is created: %d", got.status)
	}
	if got := r.do(t, http.MethodPut, path+"?fieldManager=windlass-console-ci", admin, deploymentOf(ns, "a", `,"replicas":2`)); got.status != http.StatusCreated {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	before := r.do(t, http.MethodGet, path+"?consistent=true&managedFields=true", admin, "")
	image := `.spec.template.spec.containers[name="web"].image`
	tests := map[string]struct {
		method, query, body string
		header              []string
		changes, conflicts  []string
	}{
		"an apply of what is there": {http.MethodPut, "", deploymentOf(ns, "a"), nil, []string{}, []string{}},
		"an apply against others": {
			http.MethodPut, "", deploymentOf(ns, "b", `,"paused":true`), nil,
			[]string{`.spec.paused:  > true`, image + `: "a" > "b" Apply by windlass-console-ci`},
			[]string{image + " of windlass-console-ci"},
		},
		"the same with force": {
			http.MethodPut, "?force=true", deploymentOf(ns, "b"), nil, []string{image + `: "a" > "b" Apply by windlass-console-ci`}, []string{},
		},
		"an apply of a manager that lets go": {
			http.MethodPut, "?fieldManager=windlass-console-ci", deploymentOf(ns, "a"), nil, []string{`.spec.replicas: 2 > 1 Apply by windlass-console-ci`}, []string{},
		},
		"a merge patch": {
			http.MethodPatch, "", `{"spec":{"replicas":5}}`,
			[]string{"Content-Type", "application/merge-patch+json"},
			[]string{`.spec.replicas: 2 > 5 Apply by windlass-console-ci`},
			[]string{},
		},
		"a JSON patch": {
			http.MethodPatch, "", `[{"op":"add","path":"/metadata/labels","value":{"tier":"front"}}]`,
			[]string{"Content-Type", "application/json-patch+json"},
			[]string{`.metadata.labels:  > {"tier":"front"}`},
			[]string{},
		},
	}
	for name, test := range tests {
		changes, conflicts := r.do(t, test.method, path+"/diff"+test.query, admin, test.body, test.header...).difference(t)
		if wrong := cmp.Diff([][]string{test.changes, test.conflicts}, [][]string{changes, conflicts}); wrong != "" {
			t.Errorf("%s: changes and conflicts (-want +got):\n%s", name, wrong)
		}
	}
	if after := r.do(t, http.MethodGet, path+"?consistent=true&managedFields=true", admin, ""); !bytes.Equal(after.body, before.body) {
		t.Errorf("it is changed: %s", cmp.Diff(string(before.body), string(after.body)))
	}
	if got := r.do(t, http.MethodPut, path+"/diff", admin, deploymentOf(ns, "b", `,"replica":1`)); got.status != http.StatusUnprocessableEntity ||
		got.problem(t).Errors[0].Location != "spec.replica" {
		t.Errorf("an unknown field: %d %s", got.status, got.body)
	}
}

// TestAttackDifferencesWithoutRights asks what a write would change, of objects that the caller cannot read or cannot write.
func TestAttackDifferencesWithoutRights(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	admin := r.user(t, "", everything())
	if got := r.do(t, http.MethodPost, "/v1/deployments", admin, deploymentOf(ns, "secret-image")); got.status != http.StatusCreated {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	for about, rules := range map[string][]rbacv1.PolicyRule{
		"no rights": {rule("list", "", "services")}, "the right to read": {rule("get", "apps", "deployments")},
		"the right to write": {rule("patch,update", "apps", "deployments")},
	} {
		token := r.user(t, ns, rules...)
		for _, write := range [][]string{{http.MethodPut, ""}, {http.MethodPut, "?force=true"}, {http.MethodPatch, "", "Content-Type", "application/merge-patch+json"}} {
			got := r.do(t, write[0], "/v1/deployments/"+ns+"/web/diff"+write[1], token, deploymentOf(ns, "b"), write[2:]...)
			if got.status != http.StatusForbidden || strings.Contains(string(got.body), "secret-image") {
				t.Errorf("%s: %v: %d %s", about, write, got.status, got.body)
			}
		}
	}
}
