// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// definition is what a reference needs of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind       string   `json:"kind"`
			Plural     string   `json:"plural"`
			ShortNames []string `json:"shortNames"`
		} `json:"names"`
		Versions []struct {
			Name    string `json:"name"`
			Columns []struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				JSONPath    string `json:"jsonPath"`
				Priority    int    `json:"priority"`
			} `json:"additionalPrinterColumns"`
			Selectable []struct {
				JSONPath string `json:"jsonPath"`
			} `json:"selectableFields"`
			Subresources map[string]any `json:"subresources"`
			Schema       struct {
				OpenAPI schema `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// schema is the schema of a field.
type schema struct {
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Format      string            `json:"format"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Additional  *schema           `json:"additionalProperties"`
	Required    []string          `json:"required"`
	Enum        []any             `json:"enum"`
	Default     any               `json:"default"`
	Pattern     string            `json:"pattern"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	MinLength   *int64            `json:"minLength"`
	MaxLength   *int64            `json:"maxLength"`
	MinItems    *int64            `json:"minItems"`
	MaxItems    *int64            `json:"maxItems"`
	MinFields   *int64            `json:"minProperties"`
	MaxFields   *int64            `json:"maxProperties"`
	IntOrString bool              `json:"x-kubernetes-int-or-string"`
	Keys        []string          `json:"x-kubernetes-list-map-keys"`
	Rules       []rule            `json:"x-kubernetes-validations"`
}

// rule is a rule in CEL.
type rule struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// definitions reads the CRDs.
func definitions(root string) ([]definition, error) {
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot find the CRDs: %w", err)
	}
	var all []definition
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // a file of the repository
		if err != nil {
			return nil, fmt.Errorf("cannot read a CRD: %w", err)
		}
		var d definition
		if err := yaml.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("cannot read the CRD in %s: %w", file, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// kubernetes returns the name of the type of Kubernetes that a field has, which the documentation of Kubernetes describes, or nothing. A CRD
// does not name its types, so a type is known by its fields.
func (s schema) kubernetes() string {
	for _, known := range []struct {
		name   string
		fields []string
	}{
		{"Condition", []string{"lastTransitionTime", "reason", "status", "type"}},
		{"LabelSelector", []string{"matchExpressions", "matchLabels"}},
		{"SecurityContext", []string{"allowPrivilegeEscalation", "capabilities", "seccompProfile"}},
		{"DeploymentStrategy", []string{"rollingUpdate", "type"}},
	} {
		if s.has(known.fields...) {
			return known.name
		}
	}
	if s.has("metadata", "spec") && s.Properties["spec"].has("containers") {
		return "PodTemplateSpec"
	}
	return ""
}

func (s schema) has(fields ...string) bool {
	for _, name := range fields {
		if _, found := s.Properties[name]; !found {
			return false
		}
	}
	return true
}

// kind says what a field holds. The anchor is where its own fields are described.
func (s schema) kind(anchor string) string {
	switch {
	case s.kubernetes() != "":
		return s.kubernetes()
	case s.IntOrString && strings.HasPrefix(s.Pattern, `^(\+|-)?`):
		return "quantity"
	case s.IntOrString:
		return "integer or string"
	case s.Items != nil:
		return "list of " + s.Items.kind(anchor)
	case s.Additional != nil:
		return "map of strings to " + s.Additional.kind(anchor)
	case len(s.Properties) > 0:
		return fmt.Sprintf("[object](#%s)", anchor)
	case s.Format == "date-time":
		return "time (RFC 3339)"
	case s.Format != "":
		return fmt.Sprintf("%s (%s)", s.Type, s.Format)
	default:
		return s.Type
	}
}

// limits says what a field accepts.
func (s schema) limits(required bool) []string {
	var all []string
	add := func(format string, values ...any) { all = append(all, fmt.Sprintf(format, values...)) }
	if required {
		add("required")
	}
	if s.Default != nil {
		add("default %s", literal(s.Default))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, value := range s.Enum {
			values = append(values, literal(value))
		}
		add("one of %s", strings.Join(values, ", "))
	}
	if s.Minimum != nil {
		add("at least %v", *s.Minimum)
	}
	if s.Maximum != nil {
		add("at most %v", int64(*s.Maximum))
	}
	all = append(all, s.sizes()...)
	if s.Pattern != "" && !s.IntOrString {
		add("matches `%s`", cell(s.Pattern))
	}
	if len(s.Keys) > 0 {
		add("unique by %s", strings.Join(s.Keys, ", "))
	}
	for _, r := range s.Rules {
		add("%s", prose(r.says()))
	}
	for _, inner := range []*schema{s.Items, s.Additional} {
		if inner == nil || len(inner.Properties) > 0 {
			continue
		}
		for _, limit := range inner.limits(false) {
			add("each: %s", limit)
		}
	}
	return all
}

// sizes says how long a text, a list or a map can be.
func (s schema) sizes() []string {
	var all []string
	for _, size := range []struct {
		from, to *int64
		of       string
	}{{s.MinLength, s.MaxLength, "characters"}, {s.MinItems, s.MaxItems, "items"}, {s.MinFields, s.MaxFields, "entries"}} {
		switch {
		case size.from != nil && size.to != nil:
			all = append(all, fmt.Sprintf("%d to %d %s", *size.from, *size.to, size.of))
		case size.from != nil:
			all = append(all, fmt.Sprintf("at least %d %s", *size.from, size.of))
		case size.to != nil:
			all = append(all, fmt.Sprintf("at most %d %s", *size.to, size.of))
		}
	}
	return all
}

func (r rule) says() string {
	if r.Message == "" {
		return r.Rule
	}
	return r.Message
}

func literal(value any) string {
	if text, is := value.(string); is {
		return "`" + cell(text) + "`"
	}
	raw, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	one := strings.TrimSpace(string(raw))
	if list, is := value.([]any); is {
		one = fmt.Sprint(list)
	}
	return "`" + cell(strings.ReplaceAll(one, "\n", ", ")) + "`"
}

// inner returns the schema that has the fields of an object, of the items of a list or of the values of a map, and how that is written.
func (s schema) inner() (schema, string) {
	switch {
	case s.kubernetes() != "":
		return schema{}, ""
	case s.Items != nil:
		below, suffix := s.Items.inner()
		return below, "[]" + suffix
	case s.Additional != nil:
		below, suffix := s.Additional.inner()
		return below, "{}" + suffix
	default:
		return s, ""
	}
}

func (s schema) names() []string { return slices.Sorted(maps.Keys(s.Properties)) }
