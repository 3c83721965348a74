// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const projected = `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"a.b/c":"d","plain":"e"},"creationTimestamp":"2026-01-01T00:00:00Z",` +
	`"labels":{"app":"w\"e\\b"},"name":"web","namespace":"shop","ownerReferences":[],"resourceVersion":"7","uid":"u"},` +
	`"spec":{"containers":[{"image":"a","name":"main"},{"name":"side"}],"nodeName":"n"},"status":{"conditions":[{"reason":"R","type":"Ready"}],"phase":"Running"}}`

const who = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","resourceVersion":"7","uid":"u"}`

func TestProjection(t *testing.T) {
	t.Parallel()
	const meta = `"metadata":{`
	for name, c := range map[string]struct{ fields, want string }{
		"nothing leaves nothing out":               {"", projected},
		"what an object is stays":                  {"metadata.name", who + `}`},
		"a whole part":                             {"status", who + `,"status":{"conditions":[{"reason":"R","type":"Ready"}],"phase":"Running"}}`},
		"a value":                                  {"status.phase", who + `,"status":{"phase":"Running"}}`},
		"of each element of a list":                {"status.conditions.type", who + `,"status":{"conditions":[{"type":"Ready"}]}}`},
		"elements without it keep their place":     {"spec.containers.image", who + `,"spec":{"containers":[{"image":"a"},{}]}}`},
		"all of a part is more than some of it":    {"spec.nodeName,spec,spec.containers", who + `,"spec":{"containers":[{"image":"a","name":"main"},{"name":"side"}],"nodeName":"n"}}`},
		"a field that does not exist":              {"status.absent,absent,spec.absent.too", who + `}`},
		"a field below a value":                    {"metadata.name.first,status.phase.first", who + `}`},
		"a field of a list without elements":       {"metadata.ownerReferences.name", who + `}`},
		"a name with a dot":                        {`metadata.annotations.a\.b/c`, strings.Replace(who, meta, meta+`"annotations":{"a.b/c":"d"},`, 1) + `}`},
		"a value with quotes":                      {"metadata.labels", strings.Replace(who, meta, meta+`"labels":{"app":"w\"e\\b"},`, 1) + `}`},
		"a path twice":                             {"status.phase,status.phase", who + `,"status":{"phase":"Running"}}`},
		"names are told apart by their whole text": {"status.phas,statu", who + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of, err := ParseProjection(c.fields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(of.Of([]byte(projected)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestProjectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"an empty path": "metadata.name,", "an empty name": "metadata..name", "a leading dot": ".metadata", "a lone backslash": `\`,
		"too long": strings.Repeat("a", MaxProjection+1), "too many": strings.Repeat("a,", maxPaths) + "a", "too deep": strings.Repeat("a.", maxDepth) + "a",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseProjection(fields)
			if wrong, ok := errors.AsType[*FieldError](err); !ok || wrong.Location != "query.fields" {
				t.Errorf("%q is read: %v", fields, err)
			}
		})
	}
}

func TestTagsOfProjections(t *testing.T) {
	t.Parallel()
	seen := map[Tag]string{}
	for _, fields := range []string{"", "status", "status.phase", "spec,status", `a.b`, `a\.b`} {
		of, err := ParseProjection(fields)
		if err != nil {
			t.Fatal(err)
		}
		tag := of.Tag(TagOf([]byte("same")))
		if other, known := seen[tag]; known {
			t.Errorf("%q and %q have one tag", fields, other)
		}
		seen[tag] = fields
	}
	one, _ := ParseProjection("status,spec.a")
	other, _ := ParseProjection("spec.a,status.phase,status")
	if one.Tag(Tag{}) != other.Tag(Tag{}) {
		t.Errorf("%s and %s choose the same and differ", one, other)
	}
}

// FuzzFields holds that a projection of any document is JSON, and has what is chosen of a decoded document.
func FuzzFields(f *testing.F) {
	f.Add("status.conditions.type,metadata.labels", projected)
	f.Add(`metadata.annotations.a\.b/c`, projected)
	f.Add("a.b", `{"a":[[{"b":1}],{"c":2},[],7,"\\\""],"\u0061":{"b":null}}`)
	f.Add("a", `[{"a":1`)
	f.Fuzz(func(t *testing.T, fields, document string) {
		of, err := ParseProjection(fields)
		if err != nil || of == nil {
			return
		}
		if got := of.Of([]byte(document)); json.Valid([]byte(document)) && !json.Valid(got) {
			t.Errorf("%q of %s is no JSON: %s", fields, document, got)
		}
		var decoded any
		if json.Unmarshal([]byte(document), &decoded) != nil {
			return
		}
		canonical, err := json.Marshal(decoded) // without names that come twice
		if err != nil {
			t.Fatal(err)
		}
		want, some := pick(decoded, of.root)
		if !some {
			want = map[string]any{}
		}
		expected, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := of.Of(canonical); !bytes.Equal(expected, got) {
			t.Errorf("%q of %s: %s, want %s", fields, canonical, got, expected)
		}
	})
}

// pick is what a projection does, of a value that is decoded.
func pick(value any, of *chosen) (any, bool) {
	if of.below == nil {
		return value, true
	}
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range of.below {
			if part, has := value[name]; has {
				if got, some := pick(part, below); some {
					out[name] = got
				}
			}
		}
		return out, len(out) > 0
	case []any:
		out, has := []any{}, false
		for _, element := range value {
			got, some := pick(element, of)
			if !some {
				got = map[string]any{}
			}
			out, has = append(out, got), has || some
		}
		return out, has
	}
	return nil, false
}
