// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// specKind is a kind with the schema of its spec, and a spec that is valid.
type specKind struct {
	kind, apiVersion, resource string
	namespaced                 bool
	schema                     map[string]any
	valid                      map[string]any
}

// validSpecs are what generated specs differ from.
func validSpecs() map[string]map[string]any {
	return map[string]map[string]any{
		"NodePool": {
			"nodeSelector": map[string]any{"matchLabels": map[string]any{"pool": "red"}},
			"labels":       map[string]any{"example.com/label": "1"},
			"taints":       []any{map[string]any{"key": "example.com/taint", "effect": "PreferNoSchedule"}},
		},
		"PodSet":         {"size": int64(1)},
		"PodBuggerTool":  {"label": "app=web", "image": "busybox"},
		"VirtualMachine": {"resource": map[string]any{"cpu": int64(1), "memory": "64Mi"}},
		"Cluster":        {"configPath": "/does/not/exist/cluster.yml"},
		"Kubeconfig":     {"configPath": "/does/not/exist/kubeconfig"},
	}
}

// specKinds reads the schemas of the CRDs.
func specKinds(root string) ([]specKind, error) {
	paths, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("cannot find the CRDs: %w", err)
	}
	var out []specKind
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read a CRD: %w", err)
		}
		var crd struct {
			Spec struct {
				Group, Scope string
				Names        struct{ Kind, Plural string }
				Versions     []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			return nil, fmt.Errorf("cannot read CRD %q: %w", path, err)
		}
		version := crd.Spec.Versions[0]
		out = append(out, specKind{
			kind: crd.Spec.Names.Kind, apiVersion: crd.Spec.Group + "/" + version.Name,
			resource: crd.Spec.Names.Plural + "." + crd.Spec.Group, namespaced: crd.Spec.Scope == "Namespaced",
			schema: inner(version.Schema.OpenAPIV3Schema, "properties", "spec"), valid: validSpecs()[crd.Spec.Names.Kind],
		})
	}
	return out, nil
}

func inner(schema map[string]any, path ...string) map[string]any {
	for _, name := range path {
		schema, _ = schema[name].(map[string]any)
	}
	return schema
}

// specGenerator makes specs of what a schema allows, its extremes, and a little beyond. It depends on nothing but its seed.
type specGenerator struct {
	*rand.Rand
}

func newSpecGenerator(seed, number uint64) specGenerator {
	return specGenerator{rand.New(rand.NewPCG(seed, number))}
}

// spec returns a valid spec with some of its fields replaced; now and then all of them.
func (g specGenerator) spec(kind *specKind) map[string]any {
	if g.IntN(10) == 0 {
		if all, ok := g.value(kind.schema, 0).(map[string]any); ok {
			return bounded(kind, all)
		}
	}
	spec := runtime.DeepCopyJSON(kind.valid)
	for range 1 + g.IntN(3) {
		g.replace(spec, kind.schema)
	}
	return bounded(kind, spec)
}

// bounded limits how many pods a spec asks for: they are not what is tested. A pool that leaves its labels and taints on the nodes does as it is told,
// so none is told to: the nodes have to be as they were.
func bounded(kind *specKind, spec map[string]any) map[string]any {
	if kind.kind == "NodePool" && spec["deletionPolicy"] == "Orphan" {
		delete(spec, "deletionPolicy")
	}
	if size, ok := spec["size"].(int64); kind.kind == "PodSet" && ok && size > 3 {
		spec["size"] = int64(3)
	}
	return spec
}

// replace generates one field of an object anew, or of an object within.
func (g specGenerator) replace(object, schema map[string]any) {
	properties := inner(schema, "properties")
	names := slices.Sorted(maps.Keys(properties))
	if len(names) == 0 {
		return
	}
	name := names[g.IntN(len(names))]
	field, _ := properties[name].(map[string]any)
	if within, ok := object[name].(map[string]any); ok && g.IntN(2) == 0 {
		g.replace(within, field)
		return
	}
	if g.IntN(12) == 0 {
		delete(object, name)
		return
	}
	object[name] = g.value(field, 1)
}

// value generates a value of a schema.
func (g specGenerator) value(schema map[string]any, depth int) any {
	if enum, ok := schema["enum"].([]any); ok && g.IntN(10) > 0 {
		return enum[g.IntN(len(enum))]
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return pick(g, []any{int64(0), int64(1), int64(-1), int64(math.MaxInt32), "0", "25%", "100%", "1", "128Mi", "4G", "1e3", "0.5", "100%%", ""})
	}
	switch schema["type"] {
	case "string":
		return g.text(schema)
	case "integer", "number":
		return g.number(schema)
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		list := []any{}
		for range g.count(schema, "minItems", "maxItems", depth) {
			list = append(list, g.value(inner(schema, "items"), depth+1))
		}
		return list
	}
	return g.object(schema, depth)
}

func (g specGenerator) object(schema map[string]any, depth int) any {
	out := map[string]any{}
	if values := inner(schema, "additionalProperties"); values != nil {
		for range g.count(schema, "minProperties", "maxProperties", depth) {
			out[g.key()] = g.value(values, depth+1)
		}
	}
	required, _ := schema["required"].([]any)
	properties := inner(schema, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if field, ok := properties[name].(map[string]any); ok && (slices.Contains(required, any(name)) || g.IntN(2+3*depth) == 0) {
			out[name] = g.value(field, depth+1)
		}
	}
	return out
}

// count returns how many entries a list or a map gets: few, as many as are allowed, or one too many.
func (g specGenerator) count(schema map[string]any, least, most string, depth int) int {
	low, high := limit(schema, least, 0), limit(schema, most, 40)
	if depth > 3 {
		return int(low)
	}
	return int(pick(g, []int64{low, low, low + 1, low + 1, 2, 3, min(high, 100), min(high+1, 101)}))
}

func (g specGenerator) number(schema map[string]any) any {
	low, high := limit(schema, "minimum", math.MinInt32), limit(schema, "maximum", math.MaxInt32)
	return pick(g, []int64{low, high, low - 1, high + 1, 0, 1, 2, 5, 60})
}

func (g specGenerator) text(schema map[string]any) any {
	low, high := limit(schema, "minLength", 0), limit(schema, "maxLength", 300)
	if pattern, ok := schema["pattern"].(string); ok && g.IntN(5) > 0 {
		matching := rapid.StringMatching(pattern).Example(g.IntN(math.MaxInt32))
		return string([]rune(matching)[:min(int64(len([]rune(matching))), high)])
	}
	if format, ok := schema["format"].(string); ok && format == "date-time" {
		return pick(g, []string{"2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "yesterday"})
	}
	return pick(g, []string{
		"", "a", "web", "example.com/name", "1h", "30s", "0s", "-1s", "Grüße 世界 🚢", "a\nb", "a\x00b", "../../etc", "{{.}}", "$(PATH)", "null", "-",
		strings.Repeat("a", int(low)), strings.Repeat("x", int(min(high, 5000))), strings.Repeat("ü", int(min(high, 5000))+1),
	})
}

// key returns the key of a map.
func (g specGenerator) key() string {
	return pick(g, []string{
		"example.com/a", "example.com/b", "plain", "example.com/" + strings.Repeat("k", 63), "example.com/" + strings.Repeat("k", 64), "", "ü",
		"kubernetes.io/hostname", "node-role.kubernetes.io/worker", fmt.Sprintf("example.com/n%d", g.IntN(1000)),
	})
}

func pick[T any](g specGenerator, from []T) T { return from[g.IntN(len(from))] }

// limit returns a number of a schema.
func limit(schema map[string]any, name string, otherwise int64) int64 {
	switch value := schema[name].(type) {
	case int64:
		return value
	case float64:
		return int64(value)
	}
	return otherwise
}
