// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// release rewrites what the last release has promised: a release runs it, and nothing else.
var release = flag.Bool("release", false, "write testdata/previous.txt from the CRDs of now, and empty excepted.txt")

// The types of CRDs, under shorter names.
type (
	definition  = apiextensionsv1.CustomResourceDefinition
	schemaProps = apiextensionsv1.JSONSchemaProps
	value       = apiextensionsv1.JSON
	rule        = apiextensionsv1.ValidationRule
)

// previous is what the last release has promised, and excepted what of it is broken because it only refuses what never worked.
var (
	previous = filepath.Join("testdata", "previous.txt")
	excepted = filepath.Join("testdata", "excepted.txt")
)

// shipped returns the CRDs of now.
func shipped(t *testing.T) map[string]*definition {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "config", "crd", "bases", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	out := map[string]*definition{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		crd := &definition{}
		if err := yaml.Unmarshal(raw, crd); err != nil {
			t.Fatal(err)
		}
		out[crd.Name] = crd
	}
	return out
}

func fieldsOf(crds map[string]*definition) fields {
	out := fields{}
	for _, crd := range crds {
		out.add(crd)
	}
	return out
}

// TestCRDsKeepWhatTheLastReleasePromised fails if objects that were accepted would be refused now, or mean something else.
func TestCRDsKeepWhatTheLastReleasePromised(t *testing.T) {
	t.Parallel()
	now := fieldsOf(shipped(t))
	if *release {
		text, err := now.text()
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string]string{previous: text, excepted: "# What refuses only what never worked, with the reason.\n"} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw, err := os.ReadFile(previous)
	if err != nil {
		t.Fatal(err)
	}
	before, err := parse(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	broken, exceptions := breaks(before, now), exceptions(t)
	for _, one := range broken {
		if !slices.Contains(exceptions, one) {
			t.Errorf("this promise of the last release is broken (see docs/guide/upgrading.md): %s", one)
		}
	}
	for _, one := range exceptions {
		if !slices.Contains(broken, one) {
			t.Errorf("%s excepts what is not broken: %s", excepted, one)
		}
	}
}

// exceptions returns the lines of excepted that are no comments. A release empties it: what it refuses is what it promises.
func exceptions(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(excepted)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// TestDefectsAreFound plants a change in a CRD that nobody may make, and looks for the sentence about it.
func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	const pools, kind = "nodepools.nodes.lailin.xyz", "nodepools.nodes.lailin.xyz/v1"
	at := func(crd *definition) *schemaProps {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		return &spec
	}
	set := func(crd *definition, name string, change func(*schemaProps)) {
		changed := at(crd).Properties[name]
		change(&changed)
		at(crd).Properties[name] = changed
	}
	for name, test := range map[string]struct {
		plant func(crd *definition)
		want  string
	}{
		"a field is removed": {func(crd *definition) {
			delete(at(crd).Properties, "handler")
		}, kind + ".spec.handler: is gone"},
		"a type changes": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.Type = "integer" })
		}, kind + ".spec.handler: was string, is integer"},
		"a default appears": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.Default = &value{Raw: []byte(`"kata"`)} })
		}, kind + `.spec.handler: its default was "", is "\"kata\""`},
		"the default of a status changes": {func(crd *definition) {
			schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties
			count := schema["nodeCount"]
			count.Default = &value{Raw: []byte("7")}
			schema["nodeCount"] = count
		}, kind + `.status.nodeCount: its default was "0", is "7"`},
		"an enum appears": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.Enum = []value{{Raw: []byte(`"runc"`)}} })
		}, kind + `.spec.handler: takes only ["runc"] now`},
		"a limit sinks": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.MaxLength = new(int64(1)) })
		}, kind + ".spec.handler: its maxLength is lower: 1"},
		"a least rises": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.MinLength = new(int64(9)) })
		}, kind + ".spec.handler: its minLength is higher: 9"},
		"a pattern changes": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) { s.Pattern = "^a$" })
		}, kind + ".spec.handler: its pattern was"},
		"a rule appears": {func(crd *definition) {
			set(crd, "handler", func(s *schemaProps) {
				s.XValidations = append(s.XValidations, rule{Rule: "false"})
			})
		}, kind + ".spec.handler: has a new rule: false"},
		"a new field is due": {func(crd *definition) {
			schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			schema.Properties["due"] = schemaProps{Type: "string"}
			schema.Required = append(schema.Required, "due")
		}, kind + ".due: is new and required"},
		"an old field is due": {func(crd *definition) {
			schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			schema.Required = append(schema.Required, "status")
		}, kind + ".status: is required now"},
		"a version ends": {func(crd *definition) {
			crd.Spec.Versions[0].Served = false
		}, kind + ": is gone"},
		"the scope changes": {func(crd *definition) {
			crd.Spec.Scope = apiextensionsv1.NamespaceScoped
		}, pools + ": was Cluster, is Namespaced"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, crds := fieldsOf(shipped(t)), shipped(t)
			test.plant(crds[pools])
			broken := breaks(before, fieldsOf(crds))
			if len(broken) == 0 || !strings.Contains(strings.Join(broken, "\n"), test.want) {
				t.Errorf("found %q, want %q among it", broken, test.want)
			}
		})
	}
}

// TestAStatusMayGetADefault knows what breaks nobody: who reads a status has to expect one.
func TestAStatusMayGetADefault(t *testing.T) {
	t.Parallel()
	crds := shipped(t)
	properties := crds["nodepools.nodes.lailin.xyz"].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	changed := properties["status"]
	changed.Default = nil
	properties["status"] = changed
	before := fieldsOf(crds)
	changed.Default = &value{Raw: []byte("{}")}
	properties["status"] = changed
	if broken := breaks(before, fieldsOf(crds)); len(broken) > 0 {
		t.Errorf("found %q", broken)
	}
}

// TestPromisesAreKeptAsTheyAre reads what was written.
func TestPromisesAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	want := fieldsOf(shipped(t))
	text, err := want.text()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(text)
	if broken := append(breaks(want, got), breaks(got, want)...); err != nil || len(broken) > 0 {
		t.Errorf("after reading: %v, %s", err, cmp.Diff(nil, broken))
	}
}
