// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tell returns the changes as lines: path, values, and the managers that owned the field.
func tell(of *Difference) []string {
	out := []string{}
	for _, change := range of.Changes {
		var owners []string
		for _, owner := range change.Owners {
			owners = append(owners, owner.Manager)
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s > %s %s", change.Path, change.Before, change.After, strings.Join(owners, ","))))
	}
	return out
}

func TestBetween(t *testing.T) {
	t.Parallel()
	// object returns one with managedFields: pairs of a manager and the fields that it owns.
	object := func(fields string, managed ...string) string {
		var entries []string
		for i := 0; i+1 < len(managed); i += 2 {
			entries = append(entries, fmt.Sprintf(`{"manager":%q,"operation":"Apply","fieldsType":"FieldsV1","fieldsV1":%s}`, managed[i], managed[i+1]))
		}
		return fmt.Sprintf(`{"metadata":{"name":"a","uid":"u","resourceVersion":"7","generation":3,"managedFields":[%s]},%s}`, strings.Join(entries, ","), fields)
	}
	containers := func(name string) string {
		return `{"f:spec":{"f:containers":{"k:{\"name\":\"` + name + `\"}":{".":{},"f:name":{},"f:image":{}}}}}`
	}
	ports := `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:targetPort":{}}}}}`
	tests := map[string]struct {
		before, after string
		want          []string
	}{
		"nothing changes": {object(`"spec":{"a":1}`), strings.Replace(object(`"spec":{"a":1}`), `"7"`, `"8"`, 1), []string{}},
		"a field that somebody owns": {
			object(`"spec":{"a":1}`, "kubectl", `{"f:spec":{"f:a":{}}}`, "other", `{"f:spec":{"f:b":{}}}`), object(`"spec":{"a":2}`),
			[]string{".spec.a: 1 > 2 kubectl"},
		},
		"a field that two own": {object(`"spec":{"a":1}`, "x", `{"f:spec":{"f:a":{}}}`, "y", `{"f:spec":{"f:a":{}}}`), object(`"spec":{}`), []string{".spec.a: 1 >  x,y"}},
		"who made the object around a field owns it no more once somebody has set the field": {
			object(`"spec":{"a":1}`, "maker", `{"f:spec":{}}`, "x", `{"f:spec":{"f:a":{}}}`), object(`"spec":{"a":2}`), []string{".spec.a: 1 > 2 x"},
		},
		"a field that nobody owns": {object(`"spec":{"a":1}`), object(`"spec":{"a":true}`), []string{".spec.a: 1 > true"}},
		"a field is added":         {object(`"spec":{}`), object(`"spec":{"a":{"b":1}}`), []string{`.spec.a:  > {"b":1}`}},
		"a field with owned parts goes": {
			object(`"spec":{"a":{"b":1}}`, "x", `{"f:spec":{"f:a":{"f:b":{}}}}`), object(`"spec":{}`), []string{`.spec.a: {"b":1} >  x`},
		},
		"a map that is owned as a whole": {
			object(`"spec":{"selector":{"app":"a"}}`, "x", `{"f:spec":{"f:selector":{}}}`), object(`"spec":{"selector":{"app":"b"}}`),
			[]string{`.spec.selector: {"app":"a"} > {"app":"b"} x`},
		},
		"an item of a list with keys": {
			object(`"spec":{"containers":[{"name":"web","image":"a"},{"name":"log","image":"b"}]}`, "x", containers("web"), "y", containers("log")),
			object(`"spec":{"containers":[{"name":"web","image":"a"},{"name":"log","image":"c"}]}`),
			[]string{`.spec.containers[name="log"].image: "b" > "c" y`},
		},
		"items of a list with keys come and go": {
			object(`"spec":{"containers":[{"name":"web"}]}`, "x", containers("web")), object(`"spec":{"containers":[{"name":"log"}]}`, "x", containers("log")),
			[]string{`.spec.containers[name="web"]: {"name":"web"} >  x`, `.spec.containers[name="log"]:  > {"name":"log"}`},
		},
		"a list with two keys, one a number": {
			object(`"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":1}]}`, "x", ports),
			object(`"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":2}]}`),
			[]string{`.spec.ports[port=80,protocol="TCP"].targetPort: 1 > 2 x`},
		},
		"only the order of a list changes": {
			object(`"spec":{"containers":[{"name":"a"},{"name":"b"}]}`, "x", containers("a")), object(`"spec":{"containers":[{"name":"b"},{"name":"a"}]}`),
			[]string{`.spec.containers: [{"name":"a"},{"name":"b"}] > [{"name":"b"},{"name":"a"}] x`},
		},
		"an item without its key": {
			object(`"spec":{"containers":[{"name":"a"}]}`, "x", containers("a")), object(`"spec":{"containers":[{}]}`),
			[]string{`.spec.containers: [{"name":"a"}] > [{}] x`},
		},
		"a set": {
			object(`"metadata2":{"finalizers":["a","b"]}`, "x", `{"f:metadata2":{"f:finalizers":{".":{},"v:\"a\"":{}}}}`),
			object(`"metadata2":{"finalizers":["b","c"]}`),
			[]string{`.metadata2.finalizers[="a"]: "a" >  x`, `.metadata2.finalizers[="c"]:  > "c"`},
		},
		"a list whose items nobody tells apart": {
			object(`"spec":{"args":["a","b"]}`, "x", `{"f:spec":{"f:args":{}}}`), object(`"spec":{"args":["a","c"]}`),
			[]string{`.spec.args: ["a","b"] > ["a","c"] x`},
		},
		"a value of another type":          {object(`"spec":{"a":{"b":1}}`), object(`"spec":{"a":[1]}`), []string{`.spec.a: {"b":1} > [1]`}},
		"a number that JavaScript has not": {object(`"spec":{"a":9007199254740993}`), object(`"spec":{"a":9007199254740992}`), []string{".spec.a: 9007199254740993 > 9007199254740992"}},
		"an object is created": {
			"", object(`"spec":{"a":1}`, "x", `{"f:spec":{"f:a":{}}}`), []string{`.metadata.name:  > "a"`, `.spec:  > {"a":1}`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Between([]byte(test.before), []byte(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, tell(got)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			for _, object := range []Object{got.Before, got.After} {
				raw, err := json.Marshal(object)
				if err != nil || strings.Contains(string(raw), "managedFields") {
					t.Errorf("the object is %s, %v", raw, err)
				}
			}
		})
	}
}

func TestWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", `{"metadata":[]}`, `{"metadata":{"managedFields":[{"manager":"a","fieldsV1":{"x":1}}]}}`} {
		if _, err := Between([]byte(`{}`), []byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestChangesSayEverything has objects of every shape: there are changes if and only if objects differ, and no field is told twice.
func TestChangesSayEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		was, is := drawObject(t, "was"), drawObject(t, "is")
		before, after := encode(t, was), encode(t, is)
		got, err := Between(before, after)
		if err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(map[string]any(got.Before), map[string]any(got.After)); same != (len(got.Changes) == 0) {
			t.Fatalf("the same: %t; changes: %q", same, tell(got))
		}
		paths := map[string]bool{}
		for _, change := range got.Changes {
			if paths[change.Path] || string(change.Before) == string(change.After) {
				t.Fatalf("changes: %q", tell(got))
			}
			paths[change.Path] = true
		}
	})
}

// drawObject returns an object whose managedFields fit its list, or do not.
func drawObject(t *rapid.T, label string) map[string]any {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 4).Draw(t, label+" items")
	list, owned := []any{}, map[string]any{}
	for i, name := range names {
		list = append(list, map[string]any{"name": name, "value": rapid.IntRange(0, 2).Draw(t, label+" value")})
		if i%2 == 0 {
			owned[`k:{"name":"`+name+`"}`] = map[string]any{"f:value": map[string]any{}}
		}
	}
	spec := map[string]any{"list": list}
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3, rapid.ID).Draw(t, label+" keys") {
		spec[key] = map[string]any{"deep": rapid.SampledFrom([]any{1, "1", true, []any{1, 2}, map[string]any{}}).Draw(t, label+" leaf")}
	}
	return map[string]any{
		"spec": spec,
		"metadata": map[string]any{"managedFields": []any{map[string]any{
			"manager": "m", "operation": "Update", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:list": owned, "f:x": map[string]any{}}},
		}}},
	}
}

func encode(t *rapid.T, object map[string]any) []byte {
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
