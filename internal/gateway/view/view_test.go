// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func item(t *testing.T, namespace, name string, age int, labels map[string]string) *Item {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service"}}
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetLabels(labels)
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "dropped"}})
	object.SetCreationTimestamp(metav1.NewTime(time.Unix(int64(1000-age), 0).UTC()))
	out, err := NewItem(object, false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPagesMakeTheList is a property: the pages of any query, one after the other, are the whole list in its order.
func TestPagesMakeTheList(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var items []*Item
	for i := range 100 {
		items = append(items, item(t, string('a'+rune(i%4)), fmt.Sprintf("n%03d", i), random.IntN(10), map[string]string{"mod": strconv.Itoa(i % 3)}))
	}
	slices.SortFunc(items, Compare)
	for _, sort := range []string{SortName, SortCreated, SortNewest} {
		for _, selector := range []string{"", "mod=1", "mod!=1"} {
			whole, err := ParseQuery(selector, "", "", sort, 0, "")
			if err != nil {
				t.Fatal(err)
			}
			want := whole.Select(items).Items
			var got []*Item
			token := ""
			for range 100 {
				query, err := ParseQuery(selector, "", "", sort, 7, token)
				if err != nil {
					t.Fatal(err)
				}
				page := query.Select(items)
				got = append(got, page.Items...)
				if page.Remaining != len(want)-len(got) {
					t.Errorf("%d remain, want %d", page.Remaining, len(want)-len(got))
				}
				if token = page.Continue; token == "" {
					break
				}
			}
			if !slices.Equal(want, got) {
				t.Errorf("sort %s, selector %q: %d items on pages, %d in the list", sort, selector, len(got), len(want))
			}
		}
	}
}

func TestWriteList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	page := Page{Items: []*Item{item(t, "a", "b", 0, nil), item(t, "a", "c", 0, nil)}, Continue: "t", Remaining: 3}
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	written, err := NewList(gvk, "7", page)
	if err != nil {
		t.Fatal(err)
	}
	if err := written.Write(&out); err != nil || out.Len() != written.Size() {
		t.Fatalf("%d bytes are written, promised are %d: %v", out.Len(), written.Size(), err)
	}
	var list struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`

		Items []metav1.PartialObjectMetadata `json:"items"`
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "ServiceList" || list.ResourceVersion != "7" || *list.RemainingItemCount != 3 || list.Items[1].Name != "c" {
		t.Errorf("the list is %s", out.String())
	}
	if strings.Contains(out.String(), "managedFields") {
		t.Error("managedFields are not dropped")
	}
	items, meta, err := ReadList(out.Bytes(), gvk, true)
	if err != nil || meta.ResourceVersion != "7" || len(items) != 2 || items[0].Key() != "a/b" {
		t.Errorf("it is read as %v at %s: %v", items, meta.ResourceVersion, err)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		got    *Problem
		status int
		reason string
		detail string
		errs   int
	}{
		"a Status is kept": {
			FromStatus(409, []byte(`{"kind":"Status","reason":"Conflict","message":"no","code":409,"details":{"causes":[{"field":"f","message":"m"},{"field":"<nil>","message":"rules were not checked"}]}}`)),
			409, "Conflict", "no", 1,
		},
		"a reason that a webhook invents is named by its status": {
			FromStatus(409, []byte(`{"kind":"Status","reason":"Odd","message":"no","details":{"kind":"services","name":"web","retryAfterSeconds":3}}`)),
			409, "Conflict", "no", 0,
		},
		"anything else is not passed on": {
			FromStatus(http.StatusBadGateway, []byte("<html>10.0.0.1</html>")), 502, "BadGateway", "The API server refused the request.", 0,
		},
		"what is wrong with a request is told field by field": {
			FromModel(&huma.ErrorModel{Status: 422, Detail: "validation failed", Errors: []*huma.ErrorDetail{{Message: "m", Location: "l"}}}),
			422, "Invalid", "validation failed", 1,
		},
		"what is wrong inside is not": {
			FromModel(&huma.ErrorModel{Status: 500, Detail: "dial 10.0.0.1"}), 500, "InternalError",
			"An unexpected error occurred. The log has its cause under the id of this request.", 0,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.got
			if got.Status != test.status || got.Type != ProblemType+test.reason || got.Detail != test.detail || len(got.Errors) != test.errs {
				t.Errorf("the problem is %+v", got)
			}
		})
	}
}

func TestProblemsHaveParameters(t *testing.T) {
	t.Parallel()
	conflict := FromStatus(409, []byte(`{"kind":"Status","reason":"Conflict","details":{"kind":"services","name":"web","retryAfterSeconds":3,`+
		`"causes":[{"reason":"FieldManagerConflict","field":"spec.type","message":"conflict with \"kubectl\" using v1"},`+
		`{"reason":"Odd","field":"spec","message":"no"}]}}`))
	if diff := cmp.Diff(map[string]string{"kind": "services", "name": "web", "retryAfterSeconds": "3"}, conflict.Parameters); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	want := []FieldError{
		{
			Message: `conflict with "kubectl" using v1`, Location: "spec.type", Code: FieldConflict,
			Parameters: map[string]string{"manager": "kubectl"},
		},
		{Message: "no", Location: "spec", Code: FieldInvalid},
	}
	if diff := cmp.Diff(want, conflict.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestFieldsHaveCodes(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]FieldCode{
		"unknown query parameter":                        FieldUnknown,
		"unexpected property":                            FieldUnknown,
		"required query parameter is missing":            FieldRequired,
		"expected required property image to be present": FieldRequired,
		`expected value to be one of "name, created"`:    FieldNotSupported,
		"expected length <= 63":                          FieldTooLong,
		"expected integer":                               FieldType,
		"invalid integer":                                FieldType,
		"expected number >= 0":                           FieldInvalid,
		"expected string to match pattern ^[a-z]$":       FieldInvalid,
	} {
		got := FromModel(&huma.ErrorModel{Status: 422, Errors: []*huma.ErrorDetail{{Message: message}}}).Errors[0].Code
		if got != want {
			t.Errorf("%q has the code %s, want %s", message, got, want)
		}
	}
}

func TestPair(t *testing.T) {
	t.Parallel()
	deployments := []*Item{item(t, "a", "1", 0, nil), item(t, "a", "3", 0, nil), item(t, "b", "1", 0, nil)}
	services := []*Item{item(t, "a", "2", 0, nil), item(t, "a", "3", 0, nil)}
	var got []string
	for _, parts := range Pair(deployments, services) {
		line := parts.Namespace + "/" + parts.Name + " "
		if parts.Deployment != nil {
			line += "D"
		}
		if parts.Service != nil {
			line += "S"
		}
		got = append(got, line)
	}
	want := []string{"a/1 D", "a/2 S", "a/3 DS", "b/1 D"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func FuzzParseQuery(f *testing.F) {
	good := (&cursor{Sort: SortName, Namespace: "a", Name: "b"}).token()
	f.Add("a=b,c in (d)", "metadata.name=x", "web", "name", 1, good)
	f.Add("a==", "=", "", "size", -1, "%%")
	items := []*Item{{Namespace: "a", Name: "b", search: "a/b"}, {Namespace: "a", Name: "c", search: "a/c"}}
	f.Fuzz(func(t *testing.T, labelSelector, fieldSelector, q, sort string, limit int, after string) {
		query, err := ParseQuery(labelSelector, fieldSelector, q, sort, limit, after)
		if err != nil {
			return
		}
		page := query.Select(items)
		if limit > 0 && len(page.Items) > limit {
			t.Errorf("a page of %d has %d items", limit, len(page.Items))
		}
	})
}

func FuzzFromStatus(f *testing.F) {
	f.Add(404, []byte(`{"kind":"Status","reason":"NotFound"}`))
	f.Add(500, []byte("x"))
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		problem := FromStatus(code, body)
		if problem.Status != code {
			t.Errorf("status %d becomes %d", code, problem.Status)
		}
		if _, err := json.Marshal(problem); err != nil {
			t.Errorf("%q cannot be encoded: %v", body, err)
		}
	})
}

func FuzzReadList(f *testing.F) {
	f.Add([]byte(`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		items, _, err := ReadList(raw, schema.GroupVersionKind{Version: "v1", Kind: "Service"}, false)
		if err == nil && !slices.IsSortedFunc(items, Compare) {
			t.Errorf("%q is read out of order", raw)
		}
	})
}

func TestWithin(t *testing.T) {
	t.Parallel()
	var items []*Item
	for _, key := range [][2]string{{"a", "1"}, {"a", "2"}, {"a-b", "1"}, {"b", "1"}} {
		items = append(items, &Item{Namespace: key[0], Name: key[1]})
	}
	for of, want := range map[string]int{"a": 2, "a-b": 1, "c": 0, "a b": 3} {
		if got := Within(items, strings.Fields(of)); len(got) != want {
			t.Errorf("within %q there are %d, want %d", of, len(got), want)
		}
	}
}
