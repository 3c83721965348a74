// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestColumns compares the columns of the kinds with those of the tables of the API server.
func TestColumns(t *testing.T) {
	t.Parallel()
	r := &rig{Harness: testkit.New(t)}
	server, err := rest.HTTPClientFor(r.Config)
	must(t, err)
	paths := printedPaths(t)
	out := map[string][]view.TableColumn{}
	for _, k := range view.Kinds() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(r.Config.Host, "/")+k.Path("", "", "")+"?limit=1", http.NoBody)
		must(t, err)
		request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		response, err := server.Do(request)
		must(t, err)
		raw, err := io.ReadAll(response.Body)
		must(t, err)
		must(t, response.Body.Close())
		var table view.Table
		must(t, json.Unmarshal(raw, &table))
		if len(table.Columns) == 0 {
			t.Fatalf("the table of %s has no columns: %s", k.Plural, raw)
		}
		for i, column := range table.Columns {
			table.Columns[i].Path = paths[k.Plural+"/"+column.Name]
		}
		out[k.Plural] = table.Columns
	}
	fresh, err := json.MarshalIndent(out, "", " ")
	must(t, err)
	fresh = append(fresh, '\n')
	file := filepath.Join(testkit.Root(), "internal", "gateway", "table", "columns.json")
	if *update {
		must(t, os.WriteFile(file, fresh, 0o600))
	}
	committed, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(committed), string(fresh)); diff != "" {
		t.Errorf("%s is stale: write it anew with \"go test ./internal/gateway -run TestColumns -update\" (-want +got):\n%s", file, diff)
	}
}

// printedPaths returns what the columns of our CRDs show, by kind and column.
func printedPaths(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testkit.Root(), "config", "crd", "bases", "*.yaml"))
	must(t, err)
	out := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		var crd struct {
			Spec struct {
				Names    struct{ Plural string }
				Versions []struct {
					AdditionalPrinterColumns []struct{ Name, JSONPath string }
				}
			}
		}
		must(t, yaml.Unmarshal(raw, &crd))
		for _, version := range crd.Spec.Versions {
			for _, column := range version.AdditionalPrinterColumns {
				out[crd.Spec.Names.Plural+"/"+column.Name] = column.JSONPath
			}
		}
	}
	return out
}

// TestKindsAreThoseOfTheTable reads what a page has to know about kinds.
func TestKindsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	nobody := r.user(t, "")
	got := read[view.KindList](t, r.do(t, http.MethodGet, "/v1/kinds", nobody, ""))
	var want, names []string
	for _, k := range view.Kinds() {
		want = append(want, k.Plural)
	}
	for _, k := range got.Kinds {
		names = append(names, k.Name)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	pods := got.Kinds[slices.Index(names, "pods")]
	pods.Columns = pods.Columns[:2]
	for i := range pods.Columns {
		pods.Columns[i].Description = ""
	}
	expected := view.KindInfo{
		Name: "pods", Kind: "Pod", Version: "v1", Namespaced: true, Watched: true, Actions: pods.Actions,
		Fields:  []string{"metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "spec.serviceAccountName"},
		Columns: []view.TableColumn{{Name: "Name", Type: "string", Format: "name"}, {Name: "Ready", Type: "string"}},
	}
	if diff := cmp.Diff(expected, pods); diff != "" || !slices.Contains(pods.Actions, "evict") || slices.Contains(pods.Actions, "create") {
		t.Errorf("actions of pods are %v; all else (-want +got):\n%s", pods.Actions, diff)
	}
}

// TestSchemaForAnEditor validates objects with the schema of their kind.
func TestSchemaForAnEditor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	nobody := r.user(t, "")
	for _, k := range view.Kinds() {
		got := r.do(t, http.MethodGet, "/v1/kinds/"+k.Plural+"/schema", nobody, "")
		if got.status != http.StatusOK {
			t.Fatalf("%s: status %d: %s", k.Plural, got.status, got.body)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
		must(t, err)
		compiler := jsonschema.NewCompiler()
		must(t, compiler.AddResource("kind.json", document))
		schema, err := compiler.Compile("kind.json")
		must(t, err)
		if k.Plural != "podsets" {
			continue
		}
		for body, valid := range map[string]bool{
			`{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a"},"spec":{"size":"many"}}`:                                                          false,
			`{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"Pod","metadata":{"name":"a"},"spec":{}}`:                                                                          false,
			`{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"a"},"spec":{"size":2,"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}}`: true,
		} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
			must(t, err)
			if err := schema.Validate(value); (err == nil) != valid {
				t.Errorf("%s is valid: %t, want %t: %v", body, err == nil, valid, err)
			}
		}
	}
	if got := r.do(t, http.MethodGet, "/v1/kinds/secrets/schema", nobody, ""); got.status != http.StatusNotFound {
		t.Errorf("a kind that is not served: status %d", got.status)
	}
}
