// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestRefusedAppsLeaveNothing has apps in a namespace that does not exist yet. It used to stay behind.
func TestRefusedAppsLeaveNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	half := r.user(t, "", rule("get,create,delete", "", "namespaces"), rule("create", "apps", "deployments"))
	for name, query := range map[string]string{"half-of-it": "", "half-tried": "?dryRun=All"} {
		got := r.do(t, http.MethodPost, "/v1/apps"+query, half, `{"name":"web","namespace":"`+name+`","createNamespace":true,"image":"web:1"}`)
		if got.status != http.StatusForbidden || !strings.Contains(string(got.body), "services") {
			t.Errorf("%q: without the right to create Services: %d %s", query, got.status, got.body)
		}
	}
	noNamespaces := r.user(t, "", rule("get", "", "namespaces"), rule("create", "apps", "deployments"), rule("create", "", "services"))
	body := `{"name":"web","namespace":"never-there","createNamespace":true,"image":"web:1"}`
	if got := r.do(t, http.MethodPost, "/v1/apps?dryRun=All", noNamespaces, body); got.status != http.StatusForbidden {
		t.Errorf("a dry run allows what the real run refuses: %d %s", got.status, got.body)
	}
	admin := r.user(t, "", everything())
	wrong := `{"name":"web","namespace":"never-there","createNamespace":true,"image":"web:1","labels":{"app":"not a value"}}`
	for _, query := range []string{"", "?dryRun=All"} {
		if got := r.do(t, http.MethodPost, "/v1/apps"+query, admin, wrong); got.status != http.StatusUnprocessableEntity || got.problem(t).Errors[0].Location != "body.labels.app" {
			t.Errorf("%q: a label that is not one: %d %s", query, got.status, got.body)
		}
	}
	for _, name := range []string{"half-of-it", "half-tried", "never-there"} {
		if r.Get(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}) {
			t.Errorf("the namespace %s stays", name)
		}
	}
}

// TestAttackAnAppThatFailsTakesThoseOfOthers has an app that creates a namespace and fails then. Whoever has put something into the namespace by that
// time lost it: the namespace was deleted again.
func TestAttackAnAppThatFailsTakesThoseOfOthers(t *testing.T) {
	t.Parallel()
	shared := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shared-by-two"}}
	r := newMeddledRig(t, func(request *http.Request) error {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/namespaces/"+shared.Name+"/deployments") {
			return errors.New("the connection is broken")
		}
		return nil
	})
	admin := r.user(t, "", everything())
	got := r.do(t, http.MethodPost, "/v1/apps", admin, `{"name":"web","namespace":"`+shared.Name+`","createNamespace":true,"image":"web:1"}`)
	if got.status != http.StatusBadGateway || !strings.Contains(got.problem(t).Detail, "The namespace shared-by-two was created and stays.") {
		t.Errorf("the app: %d %s", got.status, got.body)
	}
	if !r.Get(t, shared) || shared.DeletionTimestamp != nil {
		t.Error("the namespace is deleted, with whatever others have created there")
	}
}

// TestAppsTakeTheirNamespaceFromTheQuery as every other route does.
func TestAppsTakeTheirNamespaceFromTheQuery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	for _, step := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPost, "/v1/apps?ns=" + ns, `{"name":"web","image":"web:1"}`, 201},
		{http.MethodPost, "/v1/apps?ns=" + ns, `{"name":"web","namespace":"other","image":"web:1"}`, 422},
		{http.MethodPost, "/v1/apps", `{"name":"web","image":"web:1"}`, 422},
		{http.MethodGet, "/v1/apps/web?ns=" + ns, "", 200},
		{http.MethodGet, "/v1/apps/web", "", 422},
		{http.MethodDelete, "/v1/apps/web?ns=" + ns, "", 200},
		{http.MethodGet, "/v1/apps/web?ns=" + ns, "", 404},
	} {
		if got := r.do(t, step.method, step.path, admin, step.body); got.status != step.status {
			t.Errorf("%s %s: status %d, want %d: %s", step.method, step.path, got.status, step.status, got.body)
		}
	}
}

// TestDeletingHalfAnAppSaysWhichHalf has a caller who can delete one of its two parts.
func TestDeletingHalfAnAppSaysWhichHalf(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin, ns := r.user(t, "", everything()), r.Namespace(t)
	r.do(t, http.MethodPost, "/v1/apps?ns="+ns, admin, `{"name":"web","image":"web:1"}`)
	half := r.user(t, ns, rule("get,delete", "apps", "deployments"), rule("get", "", "services"))
	problem := r.do(t, http.MethodDelete, "/v1/apps/"+ns+"/web", half, "").problem(t)
	if problem.Status != http.StatusForbidden || len(problem.Errors) != 2 ||
		problem.Errors[0].Location != "deployments" || problem.Errors[0].Parameters["result"] != view.PartDeleted ||
		problem.Errors[1].Location != "services" || !strings.HasPrefix(problem.Errors[1].Message, "not deleted: ") {
		t.Errorf("the problem is %+v", problem)
	}
}
