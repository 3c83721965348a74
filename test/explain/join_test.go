// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestJoined(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"the lines of a paragraph become one": {"One\ntwo.\nThree", "One two. Three"},
		"paragraphs stay apart":               {"One\ntwo\n\nthree\nfour", "One two\n\nthree four"},
		"each entry of a list stays a line": {
			"Either:\n- one\n- two, which is\nlong\n* three", "Either:\n- one\n- two, which is long\n* three",
		},
		"numbers begin entries":           {"When:\n1) one\n2) two", "When:\n1) one\n2) two"},
		"what is indented stays as it is": {"Like:\n  a: 1\n  b: 2", "Like:\n  a: 1\n  b: 2"},
		"a fence keeps its lines":         {"Like\n```\na\nb\n```\nor\nnot", "Like\n```\na\nb\n```\nor not"},
		"one line stays one":              {"One", "One"},
		"nothing stays nothing":           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, joined(test.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, joined(test.want)); diff != "" {
				t.Errorf("a second time (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDescriptionsAreParagraphs holds every description that "kubectl explain" shows against what this command makes of it.
func TestDescriptionsAreParagraphs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no definitions: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition map[string]any
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		described := 0
		describe(definition, func(text string) string {
			described++
			if text != joined(text) {
				t.Errorf("%s has a description with lines that are no paragraphs (run make generate):\n%s", filepath.Base(file), text)
			}
			return text
		})
		if described == 0 {
			t.Errorf("%s describes nothing", filepath.Base(file))
		}
	}
}
