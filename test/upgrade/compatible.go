// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package upgrade holds the CRDs against those of the version before: what was accepted is accepted, and means the same.
package upgrade

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// field is what a version promises about one field.
type field struct {
	Type     string   `json:"type,omitempty"`
	Required bool     `json:"required,omitempty"`
	Default  string   `json:"default,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	// Texts are promises that can only stay: pattern, format, type of a list.
	Texts map[string]string `json:"texts,omitempty"`
	// AtMost and AtLeast are limits. Those of the one may not sink, those of the other may not rise.
	AtMost  map[string]float64 `json:"atMost,omitempty"`
	AtLeast map[string]float64 `json:"atLeast,omitempty"`
	// Rules are what CEL checks.
	Rules []string `json:"rules,omitempty"`
}

// fields are the fields of all kinds, by their path, as in "podsets.apps.jicki.cn/v1alpha1.spec.size".
type fields map[string]field

// add adds the fields of a CRD.
func (f fields) add(crd *apiextensionsv1.CustomResourceDefinition) {
	f[crd.Name] = field{Type: string(crd.Spec.Scope)}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Served {
			f.walk(crd.Name+"/"+version.Name, version.Schema.OpenAPIV3Schema, false)
		}
	}
}

// walk adds a field, and those that it has.
func (f fields) walk(path string, schema *apiextensionsv1.JSONSchemaProps, required bool) {
	f[path] = describe(schema, required)
	for name := range schema.Properties {
		nested := schema.Properties[name]
		f.walk(path+"."+name, &nested, slices.Contains(schema.Required, name))
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		f.walk(path+"[]", schema.Items.Schema, false)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		f.walk(path+"{}", schema.AdditionalProperties.Schema, false)
	}
}

func describe(schema *apiextensionsv1.JSONSchemaProps, required bool) field {
	out := field{
		Type: schema.Type, Required: required,
		Texts: map[string]string{}, AtMost: map[string]float64{}, AtLeast: map[string]float64{},
	}
	if schema.Default != nil {
		out.Default = string(schema.Default.Raw)
	}
	for _, value := range schema.Enum {
		out.Enum = append(out.Enum, string(value.Raw))
	}
	for name, text := range map[string]string{"pattern": schema.Pattern, "format": schema.Format} {
		if text != "" {
			out.Texts[name] = text
		}
	}
	if schema.XListType != nil {
		out.Texts["listType"] = *schema.XListType
	}
	limit(out.AtMost, "maxLength", schema.MaxLength)
	limit(out.AtMost, "maxItems", schema.MaxItems)
	limit(out.AtMost, "maxProperties", schema.MaxProperties)
	limit(out.AtMost, "maximum", schema.Maximum)
	limit(out.AtLeast, "minLength", schema.MinLength)
	limit(out.AtLeast, "minItems", schema.MinItems)
	limit(out.AtLeast, "minProperties", schema.MinProperties)
	limit(out.AtLeast, "minimum", schema.Minimum)
	for i := range schema.XValidations {
		out.Rules = append(out.Rules, schema.XValidations[i].Rule)
	}
	return out
}

func limit[N int64 | float64](limits map[string]float64, name string, value *N) {
	if value != nil {
		limits[name] = float64(*value)
	}
}

// breaks returns what of the old promises the new fields do not keep, in the order of the paths.
func breaks(before, now fields) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(before)) {
		is, there := now[path]
		if !there {
			out = append(out, path+": is gone")
			continue
		}
		promised := before[path]
		if promised.Default == "" && strings.Contains(path+".", ".status.") {
			promised.Default = is.Default // It only says what is read from an object without a status.
		}
		for _, broken := range narrowed(promised, is) {
			out = append(out, path+": "+broken)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		_, old := before[path]
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if _, oldParent := before[parent]; !old && oldParent && now[path].Required && now[path].Default == "" {
			out = append(out, path+": is new and required")
		}
	}
	return out
}

// narrowed returns how a field accepts less than before, or means something else.
func narrowed(before, now field) []string {
	var out []string
	say := func(format string, values ...any) { out = append(out, fmt.Sprintf(format, values...)) }
	if before.Type != now.Type {
		say("was %s, is %s", before.Type, now.Type)
	}
	if now.Required && !before.Required {
		say("is required now")
	}
	if before.Default != now.Default {
		say("its default was %q, is %q", before.Default, now.Default)
	}
	for _, name := range slices.Sorted(maps.Keys(now.Texts)) {
		if before.Texts[name] != now.Texts[name] {
			say("its %s was %q, is %q", name, before.Texts[name], now.Texts[name])
		}
	}
	for _, rule := range now.Rules {
		if !slices.Contains(before.Rules, rule) {
			say("has a new rule: %s", rule)
		}
	}
	return slices.Concat(out, fewer(before.Enum, now.Enum), tighter(before, now))
}

// fewer returns which values of an enumeration are not taken any more.
func fewer(before, now []string) []string {
	var out []string
	for _, value := range before {
		if len(now) > 0 && !slices.Contains(now, value) {
			out = append(out, fmt.Sprintf("does not take %s any more", value))
		}
	}
	if len(before) == 0 && len(now) > 0 {
		out = append(out, fmt.Sprintf("takes only %v now", now))
	}
	return out
}

// tighter returns which limits leave less room than before.
func tighter(before, now field) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(now.AtMost)) {
		if was, limited := before.AtMost[name]; !limited || now.AtMost[name] < was {
			out = append(out, fmt.Sprintf("its %s is lower: %v", name, now.AtMost[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.AtLeast)) {
		if was, limited := before.AtLeast[name]; !limited || now.AtLeast[name] > was {
			out = append(out, fmt.Sprintf("its %s is higher: %v", name, now.AtLeast[name]))
		}
	}
	return out
}

// text prints fields as they are kept: a line each, so that a change of a promise is a change of a line.
func (f fields) text() (string, error) {
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f)) {
		promise, err := json.Marshal(f[path])
		if err != nil {
			return "", fmt.Errorf("cannot print %s: %w", path, err)
		}
		fmt.Fprintf(&out, "%s %s\n", path, promise)
	}
	return out.String(), nil
}

// parse reads what text has printed.
func parse(text string) (fields, error) {
	out := fields{}
	for line := range strings.Lines(text) {
		path, promise, _ := strings.Cut(strings.TrimSpace(line), " ")
		var of field
		if err := json.Unmarshal([]byte(promise), &of); err != nil {
			return nil, fmt.Errorf("cannot read the promise about %s: %w", path, err)
		}
		out[path] = of
	}
	return out, nil
}
