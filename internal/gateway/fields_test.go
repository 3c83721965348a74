// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/client"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// keys returns the paths of the values in an object, without those by which every object is known.
func keys(t *testing.T, raw []byte) []string {
	t.Helper()
	var object map[string]any
	must(t, json.Unmarshal(raw, &object))
	var out []string
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, part := range value {
				walk(prefix+"."+name, part)
			}
		case []any:
			for _, part := range value {
				walk(prefix, part)
			}
		default:
			out = append(out, strings.TrimPrefix(prefix, "."))
		}
	}
	walk("", object)
	slices.Sort(out)
	out = slices.Compact(out)
	for _, known := range []string{"apiVersion", "kind", "metadata.name", "metadata.uid", "metadata.resourceVersion"} {
		if !slices.Contains(out, known) {
			t.Errorf("an object has no %s: %s", known, raw)
		}
	}
	return slices.DeleteFunc(out, func(path string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"}, path)
	})
}

// fielded is an object that the cache has, and one that is read from the API server.
func (r *rig) fielded(t *testing.T) (ns string) {
	t.Helper()
	ns = r.Namespace(t)
	web := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: "web", Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"example.com/note": "x"},
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "a", Port: 1}, {Name: "b", Port: 2}}},
	}
	r.Create(t, web)
	r.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web", Labels: web.Labels}, Data: map[string]string{"a": "b"}})
	return ns
}

// TestFieldsOfAnswers asks for some fields in everything that answers with objects.
func TestFieldsOfAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.fielded(t)
	token := r.user(t, ns, rule("get,list,watch", "", "services", "configmaps", "events"))
	testkit.Eventually(t, "the cache has the Service", func() bool {
		return len(r.do(t, http.MethodGet, "/v1/services?ns="+ns, token, "").names(t)) == 1
	})
	item := func(body []byte) []byte {
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		must(t, json.Unmarshal(body, &list))
		if len(list.Items) != 1 {
			t.Fatalf("a list has %d items: %s", len(list.Items), body)
		}
		return list.Items[0]
	}
	row := func(body []byte) []byte {
		var table struct {
			Rows []struct {
				Object json.RawMessage `json:"object"`
			} `json:"rows"`
		}
		must(t, json.Unmarshal(body, &table))
		if len(table.Rows) != 1 {
			t.Fatalf("a table has %d rows: %s", len(table.Rows), body)
		}
		return table.Rows[0].Object
	}
	whole := func(body []byte) []byte { return body }
	const ports, team = "spec.ports.port,metadata.labels.team,spec.absent", "metadata.labels.team"
	for name, c := range map[string]struct {
		path, fields string
		object       func(body []byte) []byte
		want         []string
	}{
		"an object":                      {"/v1/services/" + ns + "/web?fields=", ports, whole, []string{"metadata.labels.team", "spec.ports.port"}},
		"an object of the API server":    {"/v1/services/" + ns + "/web?consistent=true&fields=", ports, whole, []string{"metadata.labels.team", "spec.ports.port"}},
		"an object without a cache":      {"/v1/configmaps/" + ns + "/web?fields=", "data", whole, []string{"data.a"}},
		"an object as YAML":              {"/v1/services/" + ns + "/web/yaml?fields=", ports, fromYAML(t), []string{"metadata.labels.team", "spec.ports.port"}},
		"a name with dots":               {"/v1/services/" + ns + "/web?fields=", `metadata.annotations.example%5C.com/note`, whole, []string{"metadata.annotations.example.com/note"}},
		"a list":                         {"/v1/services?ns=" + ns + "&fields=", ports, item, []string{"metadata.labels.team", "spec.ports.port"}},
		"a list without a cache":         {"/v1/configmaps?ns=" + ns + "&labelSelector=team=a&fields=", team, item, []string{"metadata.labels.team"}},
		"a list with its managed fields": {"/v1/services?managedFields=true&ns=" + ns + "&fields=", "metadata.managedFields.manager", item, []string{"metadata.managedFields.manager"}},
		"a table":                        {"/v1/tables/services?ns=" + ns + "&fields=", ports, row, []string{"metadata.labels.team"}},
		"a table of the API server":      {"/v1/tables/configmaps?labelSelector=team=a&ns=" + ns + "&fields=", team, row, []string{"metadata.labels.team"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.do(t, http.MethodGet, c.path+c.fields, token, "")
			if got.status != http.StatusOK {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			if diff := cmp.Diff(c.want, keys(t, c.object(got.body))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			other := r.do(t, http.MethodGet, c.path+c.fields+",spec.another", token, "", "If-None-Match", got.header.Get("ETag"))
			if other.status != http.StatusOK || other.header.Get("ETag") == got.header.Get("ETag") {
				t.Errorf("other fields have the same tag: %d", other.status)
			}
		})
	}
}

func fromYAML(t *testing.T) func(body []byte) []byte {
	t.Helper()
	return func(body []byte) []byte {
		out, err := yaml.YAMLToJSON(body)
		must(t, err)
		return out
	}
}

// TestFieldsOfAStream follows some fields: in the snapshot, in what comes later, and in what a reader has missed.
func TestFieldsOfAStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ns := r.fielded(t)
	token := r.user(t, ns, rule("get,list,watch", "", "services"))
	c := &client.Client{Base: r.base, Token: token}
	first := ""
	for event, err := range c.WatchFields(t.Context(), ns, "", "spec.ports.port", "services") {
		must(t, err)
		for _, object := range event.Items {
			if diff := cmp.Diff([]string{"spec.ports.port"}, keys(t, object)); diff != "" {
				t.Errorf("the snapshot (-want +got):\n%s", diff)
			}
		}
		if event.Done {
			first = event.ID
			r.service(t, ns, "later")
		}
		if event.Name == client.EventUpsert && strings.Contains(string(event.Object), `"later"`) {
			if diff := cmp.Diff([]string{"spec.ports.port"}, keys(t, event.Object)); diff != "" {
				t.Errorf("what comes later (-want +got):\n%s", diff)
			}
			break
		}
	}
	for fields, want := range map[string]string{"spec.ports.port": client.EventUpsert, "spec.type": client.EventResync, "": client.EventResync} {
		for event, err := range c.WatchFields(t.Context(), ns, first, fields, "services") {
			must(t, err)
			if event.Name != want {
				t.Errorf("a stream of %q goes on with %s, want %s: other fields need a snapshot", fields, event.Name, want)
			}
			break
		}
	}
}

// TestAttackFieldsWithoutEnd asks for more than a projection has.
func TestAttackFieldsWithoutEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token := r.user(t, "", everything())
	for name, fields := range map[string]string{
		"a long one": strings.Repeat("a", 1025), "many": strings.Repeat("a,", 32) + "a", "a deep one": strings.Repeat("a.", 16) + "a", "none": ",",
	} {
		for _, path := range []string{"/v1/services?", "/v1/services/a/b?", "/v1/services/a/b/yaml?", "/v1/services/a/b/events?", "/v1/tables/services?", "/v1/watch?"} {
			got := r.do(t, http.MethodGet, path+"fields="+fields, token, "")
			if problem := got.problem(t); got.status != http.StatusUnprocessableEntity || problem.Errors[0].Location != "query.fields" {
				t.Errorf("%s: %s is answered %d: %s", name, path, got.status, got.body)
			}
		}
	}
}
