// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func FuzzReadSketch(f *testing.F) {
	f.Add("application/json", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}`)
	f.Add("application/yaml; charset=utf-8", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
	f.Add("text/plain", "a")
	table := kinds()
	at, _ := byPlural(table, servicesPlural)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		sketch, media, err := readSketch(&table[at], contentType, []byte(body))
		if (err == nil) != (sketch != nil) {
			t.Fatalf("error %v with %v", err, sketch)
		}
		if err == nil && (sketch.Kind != "Service" || media != mediaJSON && media != mediaYAML) {
			t.Errorf("%q is read as %+v of %q", body, sketch, media)
		}
		if err != nil && asProblem(err).Status >= http.StatusInternalServerError {
			t.Errorf("%q is our fault: %v", body, err)
		}
	})
}

func FuzzEventID(f *testing.F) {
	h := newHub(kinds())
	none := make(scopes, len(h.kinds))
	f.Add(h.epoch + "-0-" + none.hash())
	f.Add(h.epoch + "-18446744073709551615-" + none.hash())
	f.Add("--")
	f.Fuzz(func(t *testing.T, id string) {
		r, begin := h.follow(none, id)
		defer h.leave(r)
		if begin.resumed && !strings.HasPrefix(id, h.epoch+"-") {
			t.Errorf("%q goes on", id)
		}
	})
}

func FuzzCredentials(f *testing.F) {
	f.Add("Bearer a", "127.0.0.1:1")
	f.Add("bearer", "[::1]:1")
	f.Add("Basic YTpi", "localhost")
	f.Fuzz(func(t *testing.T, header, host string) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.Header["Authorization"] = []string{header}
		if token, ok := bearerToken(request); !ok || strings.TrimSpace(token) != token {
			t.Errorf("the token of %q is %q, %t", header, token, ok)
		}
		if isLoopback(host) && strings.Contains(host, "example") {
			t.Errorf("%q is taken for this machine", host)
		}
	})
}

func FuzzResourcePath(f *testing.F) {
	f.Add("default", "web")
	f.Add("..", "../../secrets?x#y")
	table := kinds()
	at, _ := byPlural(table, servicesPlural)
	f.Fuzz(func(t *testing.T, namespace, name string) {
		if namespace == "" || name == "" {
			t.Skip("every route has both")
		}
		path := table[at].path(namespace, name, "")
		if strings.Count(path, "/") != 6 || strings.ContainsAny(path, "?#") {
			t.Errorf("%q and %q lead to %q", namespace, name, path)
		}
	})
}

func FuzzStore(f *testing.F) {
	f.Add([]byte("abcABC"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		h := newHub(kinds())
		at, _ := byPlural(h.kinds, servicesPlural)
		s := h.stores[at]
		must(t, s.Replace(nil, "1"))
		model := map[string]bool{}
		for i, step := range steps {
			obj := object("Service", string('a'+rune(step%3)), string('a'+rune(step%5)), i+2)
			if step%2 == 0 {
				must(t, s.Update(obj))
			} else {
				must(t, s.Delete(&unstructured.Unstructured{Object: obj.Object}))
			}
			model[obj.GetNamespace()+"/"+obj.GetName()] = step%2 == 0
		}
		items, _, _ := s.list()
		for i, item := range items {
			if !model[item.Key()] || i > 0 && items[i-1].Key() >= item.Key() {
				t.Errorf("the list is %v", items)
			}
			delete(model, item.Key())
		}
		for key, there := range model {
			if there {
				t.Errorf("%s is missing", key)
			}
		}
	})
}
