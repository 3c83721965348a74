// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# Title\n" +
	"```yaml\na: 1\n```\n" +
	"<!-- first: kubectl create namespace a -->\n<!-- first: true -->\n" +
	"  ```console\n  $ one \\\\\n    more\n  out\n    put\n  $ two\n  ```\n" +
	"```text\nnot run\n```\n" +
	"<!-- not run: needs a host -->\n\n```sh\nfirst # why\n\nsecond\n```\n"

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	want := Page{Blocks: []Block{
		{Line: 2, Language: "yaml", Text: "a: 1\n"},
		{
			Line: 7, Language: "console", Text: "$ one \\\\\n  more\nout\n  put\n$ two\n",
			First: []string{"kubectl create namespace a", "true"},
		},
		{Line: 19, Language: "sh", Text: "first # why\n\nsecond\n", NotRun: "needs a host"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	steps := [][]Step{
		1: {{Line: 8, Command: "one \\\\\n  more", Output: "out\n  put\n"}, {Line: 12, Command: "two"}},
		2: {{Line: 20, Command: "first # why"}, {Line: 22, Command: "second"}},
	}
	for i, want := range steps[1:] {
		got, err := got.Blocks[i+1].Steps()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("steps of block %d (-want +got), %v:\n%s", i+1, err, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a block without an end":                 "```sh\nls\n",
		"a comment about a block that is absent": "<!-- not run: why -->\n",
		"text between a comment and its block":   "<!-- not run: why -->\ntext\n```sh\n```\n",
		"a comment about a block of text":        "<!-- not run: why -->\n```text\n```\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := Parse(text); err == nil {
				t.Errorf("it is taken as %+v", got)
			}
		})
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"kubectl get nodes":                     true,
		"kubectl -n x get secret y":             true,
		"kubectl --kubeconfig inside get nodes": true,
		"kubectl describe podset web":           true,
		"kubectl scale podset web --replicas=5": false,
		"kubectl":                               false,
		"windlass get":                          false,
	} {
		if got := (Step{Command: command}).Reads(); got != want {
			t.Errorf("%q reads: %t, want %t", command, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shown, output string
		want          bool
	}{
		"the same":                                   {"NAME READY\na True\n", "NAME READY\na True\n", true},
		"columns of another width":                   {"NAME READY\na True\n", "NAME   READY\na      True   \n", true},
		"another age":                                {"a True 4s\n", "a True 3m12s\n", true},
		"another time in the middle":                 {"  0.4s etcd is ready after 0.3s", "  0.7s etcd is ready after 12ms", true},
		"an age for what is none":                    {"a True\n", "a 4s\n", false},
		"lines in another order":                     {"a\nb\n", "b\na\n", true},
		"a line too few":                             {"a\nb\n", "a\n", false},
		"a line too many":                            {"a\n", "a\nb\n", false},
		"a line twice":                               {"a b\na b\n", "a b\n", false},
		"lines left out":                             {"a\n…\nd\n", "a\nb\nc\nd\n", true},
		"lines left out, as kubectl's readers do it": {"...\nd\n", "a\nd\n", true},
		"text left out":                              {"id=…;\n", "id=42;\n", true},
		"another pod of the Deployment":              {"pod/web-7997c94674-8gcl6 1/1", "pod/web-65b8f5d4c9-zz9xq 1/1", true},
		"a pod of another Deployment":                {"pod/web-7997c94674-8gcl6 1/1", "pod/wob-65b8f5d4c9-zz9xq 1/1", false},
		"another hash":                               {"shell-5f0c3a1e Running", "shell-0a1b2c3d Running", true},
		"another port":                               {"up at https://127.0.0.1:23960", "up at https://127.0.0.1:1", true},
		"another reason":                             {"a False Ready", "a False NotReady", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Match(test.shown, test.output); (got == "") != test.want {
				t.Errorf("the difference is %q", got)
			}
		})
	}
}
