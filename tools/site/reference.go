// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// guides has the guide of each kind, under docs/guide.
func guides() map[string]string {
	return map[string]string{
		"NodePool": "nodepool.md", "PodSet": "podset.md", "PodBuggerTool": "podbuggertool.md", "VirtualMachine": "virtualmachine.md",
		"Cluster": clusterGuide, "Kubeconfig": clusterGuide,
	}
}

// made is the first line of what is generated here.
const made = "<!-- Made by make generate. Change the comments in api/ instead. -->\n\n"

// reference returns the pages of docs/reference by name.
func reference(root string) (map[string]string, error) {
	all, err := definitions(root)
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for _, d := range all {
		kind := d.Spec.Names.Kind
		if guides()[kind] == "" {
			return nil, fmt.Errorf("%s has no guide", kind)
		}
		pages[strings.ToLower(kind)+".md"] = d.page()
	}
	pages["reasons.md"], err = reasons(root)
	return pages, err
}

// writeReference writes docs/reference anew.
func writeReference(root string) error {
	pages, err := reference(root)
	if err != nil {
		return err
	}
	folder := filepath.Join(root, "docs", "reference")
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("cannot remove the old reference: %w", err)
	}
	for name, content := range pages {
		if err := save(folder, name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

// page returns the reference of a kind.
func (d definition) page() string {
	var out strings.Builder
	names, version := d.Spec.Names, d.Spec.Versions[0]
	top := version.Schema.OpenAPI
	fmt.Fprintf(&out, "%s# %s fields\n\n", made, names.Kind)
	fmt.Fprintf(&out, "%s [The guide](../guide/%s) says how to use it, and [the index of reasons](reasons.md) what its conditions say.\n\n",
		prose(top.Description), guides()[names.Kind])
	fmt.Fprintf(&out, "| | |\n|---|---|\n| `apiVersion` | `%s/%s` |\n| `kind` | `%s` |\n| scope | %s |\n| names for kubectl | %s |\n",
		d.Spec.Group, version.Name, names.Kind, map[bool]string{true: "a namespace", false: "the cluster"}[d.Spec.Scope == "Namespaced"],
		codes(append([]string{names.Plural + "." + d.Spec.Group, names.Plural}, names.ShortNames...)))
	if _, found := version.Subresources["scale"]; found {
		out.WriteString("| subresources | `status`, `scale` |\n")
	} else {
		out.WriteString("| subresources | `status` |\n")
	}
	if len(version.Selectable) > 0 {
		var fields []string
		for _, s := range version.Selectable {
			fields = append(fields, strings.TrimPrefix(s.JSONPath, "."))
		}
		fmt.Fprintf(&out, "| field selectors | %s |\n", codes(fields))
	}
	if len(top.Rules) > 0 {
		out.WriteString("\n")
	}
	rules(&out, top.Rules)
	for _, name := range []string{"spec", "status"} {
		object(&out, 2, name, top.Properties[name], "")
	}
	out.WriteString("\n## Columns\n\nWhat `kubectl get` shows, and with `-o wide` also the columns marked so.\n\n| column | shows | from |\n|---|---|---|\n")
	for _, c := range version.Columns {
		wide := ""
		if c.Priority > 0 {
			wide = " (wide)"
		}
		fmt.Fprintf(&out, "| %s%s | %s | `%s` |\n", c.Name, wide, prose(c.Description), cell(c.JSONPath))
	}
	return out.String()
}

// object writes the fields of an object, and then those of the objects below it.
func object(out *strings.Builder, level int, path string, s schema, suffix string) {
	fmt.Fprintf(out, "\n%s %s%s\n\n", strings.Repeat("#", min(level, 4)), path, suffix)
	if level == 2 {
		fmt.Fprintf(out, "%s\n\n", prose(s.Description))
	}
	rules(out, s.Rules)
	out.WriteString("| field | type | description | limits |\n|---|---|---|---|\n")
	for _, name := range s.names() {
		field := s.Properties[name]
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", name, field.kind(anchor(path+suffix+"."+name)), prose(field.Description),
			strings.Join(field.limits(slices.Contains(s.Required, name)), "<br>"))
	}
	for _, name := range s.names() {
		if below, more := s.Properties[name].inner(); len(below.Properties) > 0 {
			object(out, level+1, path+suffix+"."+name, below, more)
		}
	}
}

// rules writes what the API server checks beyond the limits of one field.
func rules(out *strings.Builder, all []rule) {
	if len(all) == 0 {
		return
	}
	out.WriteString("The API server enforces:\n\n")
	for _, r := range all {
		fmt.Fprintf(out, "- %s\n", prose(r.says()))
	}
	out.WriteString("\n")
}

// anchor returns the anchor of the heading of an object.
func anchor(heading string) string {
	return string((&anchors{taken: map[string]int{}}).Generate([]byte(heading), 0))
}

func codes(names []string) string {
	return "`" + strings.Join(names, "`, `") + "`"
}

// prose writes a comment of the code as a line of Markdown.
func prose(comment string) string {
	comment = strings.Join(strings.Fields(comment), " ")
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "[", `\[`, "`", "\\`").Replace(comment)
}

// cell writes code for a cell of a table.
func cell(code string) string { return strings.ReplaceAll(code, "|", `\|`) }
