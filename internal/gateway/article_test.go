// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Each of the ten defects of the article that this API follows has a test that is named after what a caller would see of it.

// TestListIsAnswered200 is the first defect: the code of a list was 0, which a framework happened to turn into 200.
func TestListIsAnswered200(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	for _, k := range r.g.hub.Kinds {
		got := r.do(t, http.MethodGet, "/v1/"+k.Plural, admin, "")
		if got.status != http.StatusOK || !strings.Contains(string(got.body), `"items":[`) {
			t.Errorf("%s: %d %s", k.Plural, got.status, got.body)
		}
	}
}

// TestRefusedListIsNoEmptySuccess is the second: an error was noted and never sent.
func TestRefusedListIsNoEmptySuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	nobody := r.user(t, "default")
	for _, k := range r.g.hub.Kinds {
		got := r.do(t, http.MethodGet, "/v1/"+k.Plural, nobody, "")
		if got.status != http.StatusForbidden {
			t.Fatalf("%s: %d %s", k.Plural, got.status, got.body)
		}
		var status metav1.Status
		must(t, json.Unmarshal(got.problem(t).Kubernetes, &status))
		if status.Reason != metav1.StatusReasonForbidden || status.Code != http.StatusForbidden {
			t.Errorf("the refusal of %s carries %+v, want the API server's own", k.Plural, status)
		}
	}
}

// TestErrorsAreNotAll500 is the third: whatever the API server said, the answer was 500. What comes from nobody, because the API server
// cannot be asked, is in TestAPIServerThatIsNotThere.
func TestErrorsAreNotAll500(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	service := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"` + ns + `"},"spec":{"ports":[{"port":80}]}}`
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		reason                   string
	}{
		{"what is not there is not found", http.MethodGet, "/v1/services/" + ns + "/web", "", 404, "NotFound"},
		{"it is created", http.MethodPost, "/v1/services", service, 201, ""},
		{"a second time it is there already", http.MethodPost, "/v1/services", service, 409, "AlreadyExists"},
		{"what is not valid is told field by field", http.MethodPost, "/v1/services", strings.Replace(service, "80", "99999", 1), 422, "Invalid"},
		{
			"an unknown field is refused, not dropped", http.MethodPost, "/v1/services",
			strings.Replace(service, `"spec":{`, `"spec":{"prots":[],`, 1), 422, "Invalid",
		},
		{"in a namespace that is not there", http.MethodPost, "/v1/services?ns=nowhere", strings.Replace(service, ns, "nowhere", 1), 404, "NotFound"},
		{"it is deleted", http.MethodDelete, "/v1/services/" + ns + "/web", "", 200, ""},
		{"and then it is gone", http.MethodDelete, "/v1/services/" + ns + "/web", "", 404, "NotFound"},
	} {
		got := r.do(t, step.method, step.path, admin, step.body)
		if got.status != step.status {
			t.Fatalf("%s: status %d, want %d: %s", step.name, got.status, step.status, got.body)
		}
		if step.reason == "" {
			continue
		}
		if problem := got.problem(t); problem.Type != view.ProblemType+step.reason || len(problem.Kubernetes) == 0 {
			t.Errorf("%s: problem %+v", step.name, problem)
		}
	}
}

// TestServiceIsNotLeftBehind is the fourth: once the Deployment was gone, its Service was never deleted. The objects are the article's.
func TestServiceIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())

	got := r.do(t, http.MethodPost, "/v1/apps", admin, "")
	if got.status != http.StatusCreated {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "testing", Name: "k8s-test-stub"}}
	service := &corev1.Service{ObjectMeta: deployment.ObjectMeta}
	if !r.Get(t, deployment) || !r.Get(t, service) {
		t.Fatal("the article's objects are not there")
	}
	if *deployment.Spec.Replicas != 2 || deployment.Spec.Template.Spec.Containers[0].Image != "nginx:alpine" ||
		service.Spec.Type != corev1.ServiceTypeNodePort || service.Spec.Ports[0].NodePort == 0 ||
		deployment.Spec.Selector.MatchLabels["app"] != "k8s-test-app" || deployment.Spec.Template.Spec.Containers[0].Name != "nginx" {
		t.Errorf("they are not as the article has them: %+v %+v", deployment.Spec, service.Spec)
	}
	// The API server adds annotations of its own to a Deployment.
	creators := []string{deployment.Annotations["creator"], service.Annotations["creator"]}
	if diff := cmp.Diff([]string{"k8s-operator-test", "k8s-test-operator"}, creators); diff != "" {
		t.Errorf("who created them (-want +got):\n%s", diff)
	}
	if got := r.do(t, http.MethodPost, "/v1/apps", admin, ""); got.status != http.StatusConflict {
		t.Errorf("a second one: %d", got.status)
	}
	if got := r.do(t, http.MethodGet, "/v1/apps?ns=testing", admin, ""); !strings.Contains(string(got.body), `"name":"k8s-test-stub"`) {
		t.Errorf("the list is %s", got.body)
	}

	// The Deployment is gone already: the Service must not stay behind.
	must(t, r.Live.Delete(t.Context(), deployment))
	for _, want := range []string{`{"deployment":"gone","service":"deleted"}`, `{"deployment":"gone","service":"gone"}`} {
		got := r.do(t, http.MethodDelete, "/v1/apps/testing/k8s-test-stub", admin, "")
		if got.status != http.StatusOK || strings.TrimSpace(string(got.body)) != want {
			t.Errorf("status %d with %s, want %s", got.status, got.body, want)
		}
	}
	if r.Get(t, service) {
		t.Error("the Service is still there")
	}
}

func TestAppIsCreatedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.Namespace(t)
	app := `{"name":"web","namespace":"` + ns + `","image":"web:1","nodePool":"gpu"}`
	half := r.user(t, ns, rule("*", "apps", "deployments"), rule("get", "", "services"))
	if got := r.do(t, http.MethodPost, "/v1/apps", half, app); got.status != http.StatusForbidden {
		t.Fatalf("who may create only one of the two gets %d: %s", got.status, got.body)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	if r.Get(t, deployment) {
		t.Fatal("the Deployment is there, and no Service")
	}
	admin := r.user(t, "", everything())
	r.Create(t, &corev1.Service{ObjectMeta: deployment.ObjectMeta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}})
	if got := r.do(t, http.MethodPost, "/v1/apps", admin, app); got.status != http.StatusConflict || r.Get(t, deployment) {
		t.Fatalf("where the Service's name is taken, the answer is %d: %s", got.status, got.body)
	}
	if got := r.do(t, http.MethodDelete, "/v1/apps/"+ns+"/web", admin, ""); !strings.Contains(string(got.body), `"service":"foreign"`) {
		t.Errorf("a Service that is no part of an app: %s", got.body)
	}
	if got := r.do(t, http.MethodPost, "/v1/apps?dryRun=All", admin, strings.ReplaceAll(app, "web", "dry")); got.status != http.StatusOK ||
		!strings.Contains(string(got.body), `"runtimeClassName":"gpu"`) && !strings.Contains(string(got.body), `"nodePool":"gpu"`) {
		t.Errorf("a rehearsal: %d %s", got.status, got.body)
	}
	deployment.Name = "dry"
	if r.Get(t, deployment) {
		t.Error("the rehearsal has created something")
	}
}

// TestNothingIsFixedInTheCode is the fifth: name, namespace, image and number were, the namespace had to be there, and the second app
// was one too many.
func TestNothingIsFixedInTheCode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t) + "-new" // which is not there
	for i, name := range []string{"first", "second"} {
		body := fmt.Sprintf(`{"name":%q,"namespace":%q,"createNamespace":true,"image":"web:%d","replicas":%d,"port":%d,"labels":{"of":%q}}`,
			name, ns, i, i, 8080+i, name)
		if got := r.do(t, http.MethodPost, "/v1/apps", admin, body); got.status != http.StatusCreated {
			t.Fatalf("%s: %d %s", name, got.status, got.body)
		}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		service := &corev1.Service{ObjectMeta: deployment.ObjectMeta}
		if !r.Get(t, deployment) || !r.Get(t, service) || *deployment.Spec.Replicas != int32(i) ||
			deployment.Spec.Template.Spec.Containers[0].Image != fmt.Sprintf("web:%d", i) ||
			service.Spec.Ports[0].Port != int32(8080+i) || service.Spec.Selector["of"] != name {
			t.Errorf("%s is %+v with %+v", name, deployment.Spec, service.Spec)
		}
	}
}

// TestPartsAreAnnotatedAlike is half of the tenth: the Deployment and the Service named different creators. The example still does, because
// people look for what the article shows; TestServiceIsNotLeftBehind has it. The other half, a
// kubeconfig that has to be at one place, is in package app.
func TestPartsAreAnnotatedAlike(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	r.do(t, http.MethodPost, "/v1/apps", admin, `{"name":"web","namespace":"`+ns+`","image":"web:1"}`)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	service := &corev1.Service{ObjectMeta: deployment.ObjectMeta}
	if !r.Get(t, deployment) || !r.Get(t, service) {
		t.Fatal("the app is not there")
	}
	if diff := cmp.Diff(deployment.Annotations, service.Annotations); diff != "" || service.Annotations["creator"] != view.AppLabelValue {
		t.Errorf("annotations (-Deployment +Service):\n%s", diff)
	}
	if diff := cmp.Diff(deployment.Labels, service.Labels); diff != "" {
		t.Errorf("labels (-Deployment +Service):\n%s", diff)
	}
}

// TestNobodyGetsInWithoutCredentials is one half of the eighth: every client that reached the port could do everything.
func TestNobodyGetsInWithoutCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, item := range r.g.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch,
			http.MethodDelete: item.Delete,
		} {
			if op == nil || isOpen(op) {
				continue
			}
			got := r.do(t, method, strings.NewReplacer("{ns}", "default", "{name}", "a").Replace(path), "", "")
			if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s %s: %d %v", method, path, got.status, got.header)
			}
		}
	}
}

// isOpen reports whether an operation is described as open to everybody.
func isOpen(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Security, func(of map[string][]string) bool { return len(of) == 0 })
}

// TestOnlyLoginsAreOpen has the list of operations that need no credentials.
func TestOnlyLoginsAreOpen(t *testing.T) {
	t.Parallel()
	var open []string
	for _, item := range newRig(t).g.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil && isOpen(op) {
				open = append(open, op.OperationID)
			}
		}
	}
	slices.Sort(open)
	if diff := cmp.Diff([]string{"login", "login-begin", "login-finish", "login-methods", "logout"}, open); diff != "" {
		t.Errorf("open to everybody (-want +got):\n%s", diff)
	}
}

// TestListsHavePages is half of the ninth: there were no pages, and managedFields were in everything. The other half, calls that went on
// for ever, also for clients that had left, is TestWhoLeavesCancelsTheCall and TestAnswersHaveAnEnd.
func TestListsHavePages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	admin := r.user(t, "", everything())
	ns := r.Namespace(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		body := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"` + name + `","labels":{"tier":"` + name + `"}},"spec":{"ports":[{"port":1}]}}`
		if got := r.do(t, http.MethodPost, "/v1/services?ns="+ns, admin, body); got.status != http.StatusCreated {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
	}
	var all []string
	token := ""
	for range 3 {
		got := r.do(t, http.MethodGet, "/v1/services?limit=2&ns="+ns+"&continue="+token, admin, "")
		all = append(all, got.names(t)...)
		var list metav1.PartialObjectMetadataList
		must(t, json.Unmarshal(got.body, &list))
		token = list.Continue
	}
	if diff := cmp.Diff([]string{ns + "/a", ns + "/b", ns + "/c", ns + "/d", ns + "/e"}, all); diff != "" || token != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for query, want := range map[string][]string{
		"labelSelector=tier%20in%20(a,c)":  {ns + "/a", ns + "/c"},
		"fieldSelector=metadata.name=b":    {ns + "/b"},
		"fieldSelector=spec.type=NodePort": {},
		"q=tier=d":                         {ns + "/d"},
		"managedFields=true&q=tier=e":      {ns + "/e"},
	} {
		if diff := cmp.Diff(want, r.do(t, http.MethodGet, "/v1/services?ns="+ns+"&"+query, admin, "").names(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	var newest corev1.ServiceList
	must(t, json.Unmarshal(r.do(t, http.MethodGet, "/v1/services?sort=-created&ns="+ns, admin, "").body, &newest))
	names := make([]string, 0, len(newest.Items))
	for i, item := range newest.Items {
		names = append(names, item.Name)
		if i > 0 && newest.Items[i-1].CreationTimestamp.Before(&item.CreationTimestamp) {
			t.Errorf("%s comes after %s, which is older", item.Name, newest.Items[i-1].Name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, names); diff != "" {
		t.Errorf("the newest (-want +got):\n%s", diff)
	}
	for path, want := range map[string]bool{"": false, "?managedFields=true": true} {
		got := r.do(t, http.MethodGet, "/v1/services/"+ns+"/a"+path, admin, "")
		if strings.Contains(string(got.body), "managedFields") != want {
			t.Errorf("%q: managedFields are there: %t, want %t", path, !want, want)
		}
	}
	table := r.do(t, http.MethodGet, "/v1/tables/services?ns="+ns, admin, "")
	var columns metav1.Table
	must(t, json.Unmarshal(table.body, &columns))
	var heads []string
	for _, column := range columns.ColumnDefinitions {
		heads = append(heads, column.Name)
	}
	if diff := cmp.Diff([]string{"Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"}, heads); diff != "" {
		t.Errorf("columns of the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, firstCells(columns)); diff != "" {
		t.Errorf("rows of the table (-want +got):\n%s", diff)
	}
	var fromYAML, fromJSON corev1.Service
	must(t, yaml.UnmarshalStrict(r.do(t, http.MethodGet, "/v1/services/"+ns+"/a/yaml", admin, "").body, &fromYAML))
	must(t, json.Unmarshal(r.do(t, http.MethodGet, "/v1/services/"+ns+"/a", admin, "").body, &fromJSON))
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" || fromYAML.Kind != "Service" || fromYAML.Name != "a" {
		t.Errorf("the YAML is of %s %q (-JSON +YAML):\n%s", fromYAML.Kind, fromYAML.Name, diff)
	}
	// The API server tells something of a Service at times. TestEventsNewestFirst has events of the test's own.
	for _, name := range r.do(t, http.MethodGet, "/v1/services/"+ns+"/a/events", admin, "").names(t) {
		if !strings.HasPrefix(name, ns+"/a.") {
			t.Errorf("event %s is among those of Service a", name)
		}
	}
}

// firstCells returns the names of a table's objects, in its order.
func firstCells(table metav1.Table) []string {
	names := []string{}
	for _, row := range table.Rows {
		name, _ := row.Cells[0].(string)
		names = append(names, name)
	}
	return names
}
