// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// vocabulary is the file that declares conditions and reasons, and whose they are.
type vocabulary struct {
	title, file string
	// guide has their paragraphs, under docs/guide.
	guide string
}

// vocabularies returns every file of conditions and reasons, in the order of the page.
func vocabularies() []vocabulary {
	return []vocabulary{
		{"Every kind", "internal/status/status.go", "podset.md"},
		{"NodePool", "api/nodes/v1/conditions.go", "nodepool.md"},
		{"PodSet", "api/apps/v1alpha1/podset_conditions.go", "podset.md"},
		{"PodBuggerTool", "api/apps/v1alpha1/podbuggertool_conditions.go", "podbuggertool.md"},
		{"VirtualMachine", "api/cloudnative/v1alpha1/conditions.go", "virtualmachine.md"},
		{"Cluster and Kubeconfig", "api/clusterprovisioner/v1alpha1/conditions.go", clusterGuide},
		{"Cluster", "api/clusterprovisioner/v1alpha1/cluster_conditions.go", clusterGuide},
		{"Kubeconfig", "api/clusterprovisioner/v1alpha1/kubeconfig_conditions.go", clusterGuide},
	}
}

// clusterGuide is the guide of two kinds.
const clusterGuide = "cluster.md"

// word is a constant: a type of conditions, or a reason.
type word struct {
	name, value, says string
	condition, event  bool
}

const aboutReasons = `# Index of conditions and reasons

Every type of condition and every reason that Windlass writes into conditions and events. They are API: scripts and alerts can rely on them, and they do not
change their meaning. The last column leads to the part of the guide that says what to do. ` + "`kubectl windlass why`" + ` says it for one object
([how](../guide/why.md)), and [troubleshooting](../guide/troubleshooting.md) starts from what you see.

` + "`Ready`" + ` is the summary of every kind. Whenever it is not True, ` + "`Reconciling`" + ` or ` + "`Stalled`" + ` says whether waiting helps.
`

// reasons returns the index of conditions and reasons.
func reasons(root string) (string, error) {
	var out strings.Builder
	var errs []error
	out.WriteString(made + aboutReasons)
	for _, v := range vocabularies() {
		words, err := v.read(root)
		if err != nil {
			return "", err
		}
		raw, err := os.ReadFile(filepath.Join(root, "docs", "guide", v.guide)) //nolint:gosec // a file of the repository
		if err != nil {
			return "", fmt.Errorf("cannot read a guide: %w", err)
		}
		guide := chapters(string(raw))
		fmt.Fprintf(&out, "\n## %s\n\n| name | is | says | guide |\n|---|---|---|---|\n", v.title)
		for _, w := range words {
			in, err := guide.about(w)
			if err != nil {
				errs = append(errs, fmt.Errorf("docs/guide/%s: %w", v.guide, err))
			}
			is := "reason"
			switch {
			case w.condition:
				is = "**condition**"
			case w.event:
				is = "reason of an event"
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s | [%s](../guide/%s#%s) |\n", w.value, is, prose(w.says), in.Text, v.guide, in.Anchor)
		}
	}
	return out.String(), errors.Join(errs...)
}

// read returns the words of a file, conditions first and both by name.
func (v vocabulary) read(root string) ([]word, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(v.file)), nil, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("cannot read the reasons of %s: %w", v.title, err)
	}
	var words []word
	for _, declaration := range file.Decls {
		block, is := declaration.(*ast.GenDecl)
		if !is || block.Tok != token.CONST {
			continue
		}
		for _, spec := range block.Specs {
			if w, found := constant(spec, block.Doc); found {
				words = append(words, w)
			}
		}
	}
	slices.SortFunc(words, func(a, b word) int {
		if a.condition != b.condition {
			return map[bool]int{true: -1, false: 1}[a.condition]
		}
		return strings.Compare(a.value, b.value)
	})
	return words, nil
}

// constant reads an exported constant that is a condition or a reason. In the file of all kinds, conditions have no prefix.
func constant(spec ast.Spec, above *ast.CommentGroup) (word, bool) {
	value, is := spec.(*ast.ValueSpec)
	if !is || len(value.Values) != 1 || !value.Names[0].IsExported() {
		return word{}, false
	}
	literal, is := value.Values[0].(*ast.BasicLit)
	if !is || literal.Kind != token.STRING || strings.HasPrefix(value.Names[0].Name, "Phase") {
		return word{}, false
	}
	name := value.Names[0].Name
	unquoted, err := strconv.Unquote(literal.Value)
	if err != nil {
		return word{}, false
	}
	says := strings.Join(strings.Fields(cmp.Or(value.Doc, above).Text()), " ")
	w := word{name: name, value: unquoted, condition: !strings.HasPrefix(name, "Reason"), event: strings.Contains(says, "reason of the event")}
	for _, begin := range []string{" says that ", " is the reason of the event for ", " is the reason of the event about ", " is ", " has "} {
		if rest, found := strings.CutPrefix(says, name+begin); found {
			says = rest
			break
		}
	}
	w.says = strings.ToUpper(says[:min(1, len(says))]) + says[min(1, len(says)):]
	return w, true
}

// chapter is a part of a guide.
type chapter struct {
	heading

	text string
}

type guideText []chapter

// chapters takes a guide apart at its headings.
func chapters(source string) guideText {
	headings := read([]byte(source)).headings
	var all guideText
	fenced := false
	for line := range strings.Lines(source) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") && len(all) < len(headings) {
			all = append(all, chapter{heading: headings[len(all)]})
		}
		if len(all) > 0 {
			all[len(all)-1].text += line
		}
	}
	return all
}

// about returns the part of the guide that explains a word: the list of reasons, or of events for those that only events have, or else the
// first part that has it.
func (g guideText) about(w word) (heading, error) {
	best, found := heading{}, 0
	for _, c := range g {
		if !strings.Contains(c.text, "`"+w.value+"`") && !strings.Contains(c.text, "**"+w.value+"**") && !strings.Contains(c.text, "| "+w.value+" ") {
			continue
		}
		weight := 1
		switch title := strings.ToLower(c.Text); {
		case strings.Contains(title, "event") && w.event:
			weight = 3
		case strings.Contains(title, "reason"):
			weight = 2
		}
		if weight > found {
			best, found = c.heading, weight
		}
	}
	if found == 0 {
		return heading{}, fmt.Errorf("it does not explain %s (%s)", w.value, w.name)
	}
	return best, nil
}
