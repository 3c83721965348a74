// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// schemasFile has the schemas of all kinds, as the API server publishes them.
func schemasFile() string {
	return filepath.Join(testkit.Root(), "internal", "gateway", "api", "schemas.json")
}

// TestSchemas compares the schemas of the kinds with those that the API server publishes.
func TestSchemas(t *testing.T) {
	t.Parallel()
	r := &rig{Harness: testkit.New(t)}
	schemas := r.published(t)
	var roots []string
	for _, k := range view.Kinds() {
		name, _ := schemas.Of(k.GVK)
		roots = append(roots, name)
		if strings.Contains(k.GVK.Group, ".") { // a CRD
			roots = append(roots, split(t, schemas, name)...)
			continue
		}
		object, err := r.Live.Scheme().New(k.GVK)
		must(t, err)
		markNull(schemas, reflect.TypeOf(object), map[reflect.Type]bool{})
	}
	share(schemas)
	for kind, reasons := range conditionReasons(t) {
		enumerate(t, schemas, kind, reasons)
	}
	out := map[string]view.Schema{}
	for _, name := range schemas.Needed(append(roots, "Scale", "Status", "ObjectMeta", "ListMeta")...) {
		out[name] = schemas.ByName[name]
	}
	fresh, err := json.MarshalIndent(out, "", " ")
	must(t, err)
	fresh = append(fresh, '\n')
	if *update {
		must(t, os.WriteFile(schemasFile(), fresh, 0o600))
	}
	committed, err := os.ReadFile(schemasFile())
	must(t, err)
	if !bytes.Equal(committed, fresh) {
		t.Errorf("%s is stale: write it anew with \"go test ./internal/gateway -run TestSchemas -update\", then the same for TestDescription\n%s",
			schemasFile(), cmp.Diff(strings.Split(string(committed), "\n"), strings.Split(string(fresh), "\n")))
	}
}

// published returns the schemas of all groups of kinds, once the API server publishes those of our CRDs too.
func (r *rig) published(t *testing.T) (schemas *view.Schemas) {
	t.Helper()
	server, err := rest.HTTPClientFor(r.Config)
	must(t, err)
	paths := map[string]bool{}
	for _, k := range view.Kinds() {
		paths[view.SchemaPath(k.GVK.GroupVersion())] = true
	}
	testkit.Eventually(t, "all kinds are published", func() bool {
		var documents [][]byte
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(r.Config.Host, "/")+path, http.NoBody)
			must(t, err)
			response, err := server.Do(request)
			must(t, err)
			raw, err := io.ReadAll(response.Body)
			must(t, errors.Join(err, response.Body.Close()))
			if response.StatusCode != http.StatusOK {
				return false
			}
			documents = append(documents, raw)
		}
		schemas, err = view.ReadSchemas(documents...)
		must(t, err)
		return !slices.ContainsFunc(view.Kinds(), func(k view.Kind) bool { _, known := schemas.Of(k.GVK); return !known })
	})
	return schemas
}

// markNull marks the times that Kubernetes encodes as null when they are not set: those that are values in Go. The API server
// does not say so.
func markNull(schemas *view.Schemas, of reflect.Type, seen map[reflect.Type]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || seen[of] {
		return
	}
	seen[of] = true
	described := schemas.ByName[of.Name()]
	properties, _ := described["properties"].(map[string]any)
	required, _ := described["required"].([]any)
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, known := properties[name].(map[string]any)
		isTime := field.Type == reflect.TypeFor[metav1.Time]() || field.Type == reflect.TypeFor[metav1.MicroTime]()
		if !isTime {
			markNull(schemas, field.Type, seen)
		} else if known && property["$ref"] != nil && !strings.Contains(options, "omitzero") && !slices.Contains(required, any(name)) {
			properties[name] = view.Schema{
				"description": property["description"], "oneOf": []any{view.Schema{"$ref": property["$ref"]}, view.Schema{"type": "null"}},
			}
		}
	}
}

// split gives names to the spec and the status of a CRD, and to its conditions, which a CRD has in one piece.
func split(t *testing.T, schemas *view.Schemas, kind string) []string {
	t.Helper()
	var out []string
	for _, part := range []string{"spec", "status"} {
		properties, ok := schemas.ByName[kind]["properties"].(map[string]any)
		if !ok || properties[part] == nil {
			t.Fatalf("%s has no %s", kind, part)
		}
		name := kind + strings.ToUpper(part[:1]) + part[1:]
		whole, ok := properties[part].(map[string]any)
		if !ok {
			t.Fatalf("the %s of %s is not a schema", part, kind)
		}
		schemas.ByName[name] = whole
		properties[part] = view.Schema{"$ref": "#/components/schemas/" + name}
		out = append(out, name)
	}
	return out
}

// share replaces what a CRD has in one piece, such as the template of a PodSet, by references to the schemas of Kubernetes that
// have the same fields.
func share(schemas *view.Schemas) {
	s := &shapes{schemas: schemas, of: map[string]string{}}
	named := map[string]string{}
	ambiguous := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(schemas.ByName)) {
		properties, _ := schemas.ByName[name]["properties"].(map[string]any)
		shape := s.named(name)
		if _, taken := named[shape]; taken {
			ambiguous[shape] = true
		}
		if len(properties) > 1 {
			named[shape] = name
		}
	}
	var within func(value any)
	replace := func(value any) any {
		inline, ok := value.(map[string]any)
		if !ok || inline["properties"] == nil {
			within(value)
			return value
		}
		shape := s.shape(inline)
		if name := named[shape]; name != "" && !ambiguous[shape] {
			out := view.Schema{"$ref": "#/components/schemas/" + name}
			if about := inline["description"]; about != nil {
				out["description"] = about
			}
			return out
		}
		within(inline)
		return inline
	}
	within = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				value[key] = replace(inner)
			}
		case []any:
			for i := range value {
				value[i] = replace(value[i])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schemas.ByName)) {
		within(schemas.ByName[name])
	}
}

// shapes are the fields of schemas, without what describes and validates them.
type shapes struct {
	schemas *view.Schemas
	of      map[string]string
}

func (s *shapes) named(name string) string {
	if _, known := s.of[name]; !known {
		s.of[name] = name // for those that refer to themselves
		s.of[name] = s.shape(s.schemas.ByName[name])
	}
	return s.of[name]
}

func (s *shapes) shape(of view.Schema) string {
	if ref, ok := of["$ref"].(string); ok {
		return s.named(ref[strings.LastIndexByte(ref, '/')+1:])
	}
	if of["oneOf"] != nil || of["anyOf"] != nil {
		return "scalar" // a quantity, or a number or a name
	}
	if properties, ok := of["properties"].(map[string]any); ok {
		var out strings.Builder
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if inner, ok := properties[name].(map[string]any); ok && name != "metadata" { // of which a CRD has the part that counts
				out.WriteString(name + ":" + s.shape(inner) + ",")
			}
		}
		return "{" + out.String() + "}"
	}
	for key, mark := range map[string]string{"items": "list of ", "additionalProperties": "map of "} {
		if inner, ok := of[key].(map[string]any); ok {
			return mark + s.shape(inner)
		}
	}
	kind, _ := of["type"].(string)
	return kind
}

// words are the condition types and reasons of a kind.
type words struct{ conditions, reasons []string }

// enumerate says which conditions and reasons a kind of Windlass has.
func enumerate(t *testing.T, schemas *view.Schemas, kind string, of words) {
	t.Helper()
	field := func(within map[string]any, path ...string) map[string]any {
		for _, key := range path {
			next, ok := within[key].(map[string]any)
			if !ok {
				t.Fatalf("the schema of %s has no %v", kind, path)
			}
			within = next
		}
		return within
	}
	conditions := field(schemas.ByName[kind+"Status"], "properties", "conditions")
	condition := maps.Clone(schemas.ByName["Condition"])
	condition["properties"] = maps.Clone(field(condition, "properties"))
	for name, enum := range map[string][]string{
		"type": of.conditions, "reason": of.reasons,
		"status": {string(metav1.ConditionTrue), string(metav1.ConditionFalse), string(metav1.ConditionUnknown)},
	} {
		property := maps.Clone(field(condition, "properties", name))
		property["enum"] = enum
		field(condition, "properties")[name] = property
	}
	condition["description"] = "A condition of a " + kind
	schemas.ByName[kind+"Condition"] = condition
	conditions["items"] = view.Schema{"$ref": "#/components/schemas/" + kind + "Condition"}
}

// conditionReasons returns the condition types and reasons of every kind of Windlass, from the constants of its API.
func conditionReasons(t *testing.T) map[string]words {
	t.Helper()
	out := map[string]words{}
	common := words{
		conditions: []string{"Ready", "Reconciling", "Stalled", "Paused"},
		reasons:    constants(t, "Reason", filepath.Join("internal", "status", "status.go")),
	}
	for _, k := range view.Kinds() {
		if !strings.Contains(k.GVK.Group, ".") {
			continue
		}
		folder := filepath.Join("api", strings.SplitN(k.GVK.Group, ".", 2)[0], k.GVK.Version)
		of := words{slices.Clone(common.conditions), slices.Clone(common.reasons)}
		for _, file := range []string{"conditions.go", strings.ToLower(k.GVK.Kind) + "_conditions.go"} {
			path := filepath.Join(folder, file)
			if _, err := os.Stat(filepath.Join(testkit.Root(), path)); err == nil {
				of.conditions = append(of.conditions, constants(t, "Condition", path)...)
				of.reasons = append(of.reasons, constants(t, "Reason", path)...)
			}
		}
		for _, list := range []*[]string{&of.conditions, &of.reasons} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		if len(of.conditions) == len(common.conditions) {
			t.Errorf("%s has no conditions of its own", k.GVK.Kind)
		}
		out[k.GVK.Kind] = of
	}
	return out
}

// constants returns the values of the constants of a file that begin with the prefix, without reasons that only events have.
func constants(t *testing.T, prefix, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(testkit.Root(), path), nil, parser.ParseComments|parser.SkipObjectResolution)
	must(t, err)
	var out []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) ||
			strings.HasPrefix(spec.Doc.Text(), spec.Names[0].Name+" is the reason of the event") {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			value, err := strconv.Unquote(literal.Value)
			must(t, err)
			out = append(out, value)
		}
		return true
	})
	return out
}
