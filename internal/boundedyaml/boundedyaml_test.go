// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package boundedyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var limits = Limits{Bytes: 1 << 20, Nodes: 1000, Depth: 20}

// bomb is a document whose lists have ten aliases each of the list before: ten to the power of levels scalars.
func bomb(levels int) string {
	var out strings.Builder
	out.WriteString("a0: &a0 [" + strings.TrimSuffix(strings.Repeat("x,", 10), ",") + "]\n")
	for i := range levels {
		alias := fmt.Sprintf("*a%d,", i)
		fmt.Fprintf(&out, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(alias, 10), ","))
	}
	return out.String()
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want any
		// refused is what is exceeded; other errors have their text.
		refused, broken string
	}{
		"a plain document":                        {text: "a: 1\nb: [x, z]\n", want: map[string]any{"a": 1.0, "b": []any{"x", "z"}}},
		"JSON":                                    {text: `{"a":{"b":null}}`, want: map[string]any{"a": map[string]any{"b": nil}}},
		"nothing at all":                          {text: "", want: nil},
		"the first of several documents":          {text: "a: 1\n---\nb: 2\n", want: map[string]any{"a": 1.0}},
		"an alias within the limits":              {text: "a: &x [1]\nb: *x\n", want: map[string]any{"a": []any{1.0}, "b": []any{1.0}}},
		"a merge within the limits":               {text: "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n", want: map[string]any{"a": map[string]any{"k": 1.0}, "b": map[string]any{"k": 1.0, "l": 2.0}}},
		"aliases of aliases":                      {text: bomb(6), refused: "nodes"},
		"aliases of aliases in a second document": {text: "a: 1\n---\n" + bomb(6), refused: "nodes"},
		"a long text that is repeated":            {text: "a: &x " + strings.Repeat("y", 500_000) + "\nb: [*x, *x, *x]\n", refused: "bytes"},
		"too many bytes":                          {text: strings.Repeat("#", 1<<20+1), refused: "bytes"},
		"too many lines":                          {text: strings.Repeat("- a\n", 1001), refused: "lines and separators"},
		"lines with breaks of Unicode":            {text: strings.Repeat("-\u2028", 1001), refused: "lines and separators"},
		"too deep":                                {text: strings.Repeat("[", 30) + strings.Repeat("]", 30), refused: "levels"},
		"too deep by aliases":                     {text: "a: &a [[[[[[[[[[1]]]]]]]]]]\nb: [[[[[[[[[[*a]]]]]]]]]]\n", refused: "levels"},
		"an alias of itself":                      {text: "a: &a [*a]\n", broken: "contains itself"},
		"an alias of nothing":                     {text: "a: *b\n", broken: "unknown anchor"},
		"UTF-16":                                  {text: "\xff\xfea\x00", broken: "UTF-8"},
		"text that is not YAML":                   {text: "a: [", broken: "cannot parse YAML"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got any
			err := Unmarshal([]byte(test.text), &got, limits)
			exceeded := ""
			if limit, ok := errors.AsType[*LimitError](err); ok {
				exceeded = limit.What
			}
			switch {
			case exceeded != test.refused:
				t.Errorf("exceeded is %q (%v), want %q", exceeded, err, test.refused)
			case test.broken != "" && (err == nil || !strings.Contains(err.Error(), test.broken)):
				t.Errorf("the error is %v, want one with %q", err, test.broken)
			case test.refused == "" && test.broken == "" && err != nil:
				t.Errorf("the error is %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the value (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttackASecondDocumentIsNotSeen: what is checked here is the first document, and a program that reads the text as well may read all.
func TestAttackASecondDocumentIsNotSeen(t *testing.T) {
	t.Parallel()
	single := limits
	single.Single = true
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"nothing at all":                     {"", nil},
		"one document":                       {"a: 1\n", nil},
		"a separator before it":              {"# comment\n---\na: 1\n", nil},
		"a separator after it":               {"a: 1\n---\n", nil},
		"separators and comments after it":   {"a: 1\n---\n# comment\n---\n", nil},
		"the end of a document":              {"a: 1\n...\n", nil},
		"two documents":                      {"a: 1\n---\nb: 2\n", ErrSeveral},
		"two documents with an end":          {"a: 1\n...\n---\nb: 2\n", ErrSeveral},
		"an empty one between two others":    {"a: 1\n---\n---\nb: 2\n", ErrSeveral},
		"a map whose tag says it is nothing": {"a: 1\n--- !!null\nb: 2\n", ErrSeveral},
		"a text":                             {"a: 1\n--- b\n", ErrSeveral},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Check([]byte(test.text), single); !errors.Is(err, test.want) {
				t.Errorf("the error is %v, want %v", err, test.want)
			}
			if err := Check([]byte(test.text), limits); err != nil {
				t.Errorf("with any number of documents: %v", err)
			}
		})
	}
}

func TestUnmarshalStrict(t *testing.T) {
	t.Parallel()
	var into struct {
		A int `json:"a"`
	}
	if err := UnmarshalStrict([]byte("a: 1\nb: 2\n"), &into, limits); err == nil || !strings.Contains(err.Error(), "b") {
		t.Errorf("an unknown field: %v", err)
	}
	if err := UnmarshalStrict([]byte(bomb(6)), &into, limits); err == nil {
		t.Error("strict decoding expands what is too large")
	}
}

func TestToJSON(t *testing.T) {
	t.Parallel()
	got, err := ToJSON([]byte("a: &x [1]\nb: *x\n"), limits)
	if err != nil || string(got) != `{"a":[1],"b":[1]}` {
		t.Errorf("the JSON is %s, %v", got, err)
	}
	if _, err := ToJSON([]byte(bomb(6)), limits); err == nil {
		t.Error("the conversion expands what is too large")
	}
}

// TestOneMegabyteOfAliasesStaysSmall is the attack that took four gigabytes: its refusal must cost no more than its text does.
func TestOneMegabyteOfAliasesStaysSmall(t *testing.T) { //nolint:paralleltest // because other tests would allocate meanwhile
	text := []byte("a: &a [" + strings.TrimSuffix(strings.Repeat("x,", 20_000), ",") + "]\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 20_000), ",") + "]\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := Check(text, Limits{Bytes: 3 << 20, Nodes: 50_000, Depth: 64})
	runtime.ReadMemStats(&after)
	if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Fatalf("the error is %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("the refusal allocated %d MiB", used>>20)
	}
}

// FuzzLimits holds that whatever is accepted stays within the limits after it is expanded, and is read as without limits.
func FuzzLimits(f *testing.F) {
	f.Add(bomb(1))
	f.Add(bomb(6))
	f.Add("a: &x {k: 1}\nb:\n  <<: *x\n")
	f.Add("? ? ? a\n: b\n")
	f.Add("- - - a\r- {a: b, \"c\":d}\u2028- |\n  text, text\n")
	f.Fuzz(func(t *testing.T, text string) {
		small := Limits{Bytes: 4 << 10, Nodes: 100, Depth: 10}
		raw, err := ToJSON([]byte(text), small)
		if err != nil {
			return
		}
		var got, want any
		if json.Unmarshal(raw, &got) != nil || yaml.Unmarshal([]byte(text), &want) != nil {
			return // the conversion may write what JSON does not allow, such as a number without an end
		}
		if nodes, depth := count(got); nodes > small.Nodes+1 || depth > small.Depth {
			t.Errorf("%q has %d nodes and %d levels", text, nodes, depth)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %v, without limits as %v", text, got, want)
		}
	})
}

// count returns the nodes and levels of a value.
func count(value any) (nodes, depth int) {
	var children []any
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			children = append(children, key, child)
		}
	case []any:
		children = value
	}
	for _, child := range children {
		n, d := count(child)
		nodes, depth = nodes+n, max(depth, d)
	}
	return nodes + 1, depth + 1
}
