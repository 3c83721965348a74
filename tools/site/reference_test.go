// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceIsFresh compares docs/reference with what make generate would write.
func TestReferenceIsFresh(t *testing.T) {
	t.Parallel()
	want, err := reference(root)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(root, "docs", "reference"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		raw, err := os.ReadFile(filepath.Join(root, "docs", "reference", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = string(raw)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference is stale: run make generate (-want +got):\n%s", diff)
	}
}

// TestEveryReasonIsInTheIndex looks for exported constants in the code by itself, so that a file that the index does not read is found.
func TestEveryReasonIsInTheIndex(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "reference", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	index := string(raw)
	declared := regexp.MustCompile(`(?m)^(?:const)?\s+((?:Reason|Condition)[A-Z]\w*) += "(\w+)"`)
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| .+ \\| \\[[^]]+\\]\\(\\.\\./guide/([\\w.]+)#([^)]+)\\) \\|$")
	rows := map[string]int{}
	for _, found := range row.FindAllStringSubmatch(index, -1) {
		rows[found[1]]++
	}
	words := 0
	for _, pattern := range []string{"api/*/*/*.go", "internal/status/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range declared.FindAllStringSubmatch(string(code), -1) {
				words++
				if rows[found[2]] == 0 {
					t.Errorf("docs/reference/reasons.md has no row for %s of %s", found[1], strings.TrimPrefix(file, root+"/"))
				}
			}
		}
	}
	total := 0
	for _, count := range rows {
		total += count
	}
	// The four conditions of every kind have no prefix.
	if words == 0 || total != words+4 {
		t.Errorf("the code declares %d conditions and reasons besides Ready, Reconciling, Stalled and Paused, and the index has %d rows", words, total)
	}
}

// TestAReasonWithoutAParagraph fails: a guide has to say what to do about each.
func TestAReasonWithoutAParagraph(t *testing.T) {
	t.Parallel()
	guide := chapters("# A\n\n`Lost`\n\n## Conditions and reasons\n\n| `Lost` | `Found` |\n\n```sh\n# not a heading\n```\n\n## Events\n\n`Found`, `Lost`\n")
	for name, test := range map[string]struct {
		word word
		want string
	}{
		"a reason":               {word{value: "Lost"}, "conditions-and-reasons"},
		"a reason of events":     {word{value: "Found", event: true}, "events"},
		"one without paragraph":  {word{value: "Gone", name: "ReasonGone"}, ""},
		"a part of another word": {word{value: "Fou", name: "ReasonFou"}, ""},
	} {
		got, err := guide.about(test.word)
		if got.Anchor != test.want || (err == nil) == (test.want == "") {
			t.Errorf("%s: it is in %q: %v", name, got.Anchor, err)
		}
	}
}

// TestEveryFieldIsInTheReference counts the fields of the CRDs but for those of types that Kubernetes describes.
func TestEveryFieldIsInTheReference(t *testing.T) {
	t.Parallel()
	all, err := definitions(root)
	if err != nil || len(all) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	var count func(s schema) int
	count = func(s schema) int {
		fields, _ := s.inner()
		total := len(fields.Properties)
		for _, field := range fields.Properties {
			total += count(field)
		}
		return total
	}
	for _, d := range all {
		top := d.Spec.Versions[0].Schema.OpenAPI
		want := count(top.Properties["spec"]) + count(top.Properties["status"])
		above, _, _ := strings.Cut(d.page(), "\n## Columns")
		_, fields, _ := strings.Cut(above, "\n## spec")
		if got := len(regexp.MustCompile("(?m)^\\| `\\w+` \\| ").FindAllString(fields, -1)); got != want || want == 0 {
			t.Errorf("the reference of %s has %d fields, and the CRD %d", d.Spec.Names.Kind, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	most, least := 63.0, int64(1)
	field := schema{
		Type: "string", Enum: []any{"a", "b"}, Default: "a", Maximum: &most, MinLength: &least, Pattern: "^(a|b)$",
		Rules: []rule{{Rule: "self == oldSelf", Message: "it is immutable"}},
	}
	want := []string{"required", "default `a`", "one of `a`, `b`", "at most 63", "at least 1 characters", "matches `^(a\\|b)$`", "it is immutable"}
	if diff := cmp.Diff(want, field.limits(true)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (schema{Items: &schema{Additional: &schema{Type: "integer", Format: "int64"}}}).kind(""); got != "list of map of strings to integer (int64)" {
		t.Errorf("the type is %q", got)
	}
}
