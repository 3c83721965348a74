// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// manyNodes answers lists in pages: there are that many nodes, of which the last is not ready, and nothing else.
type manyNodes struct {
	count int
	// padding makes a node as large as a real one.
	padding string

	mu sync.Mutex
	// asked counts the requests for each plural.
	asked map[string]int
}

func (m *manyNodes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	plural := path.Base(r.URL.Path)
	m.mu.Lock()
	m.asked[plural]++
	m.mu.Unlock()
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || r.Method != http.MethodGet {
		http.Error(w, "a list without a limit", http.StatusBadRequest)
		return
	}
	items, next := []any{}, ""
	if plural == nodesPlural {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue")) // 0 for the first page
		for i := from; i < min(m.count, from+limit); i++ {
			items = append(items, m.node(i))
		}
		if from+limit < m.count {
			next = strconv.Itoa(from + limit)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	of := only(plural)[0]
	_ = json.NewEncoder(w).Encode(map[string]any{ //nolint:errchkjson // because a client that gets no answer fails the test
		"kind": of.gvk.Kind + "List", "apiVersion": of.gvk.GroupVersion().String(),
		"metadata": map[string]any{"resourceVersion": "7", "continue": next}, "items": items,
	})
}

func (m *manyNodes) node(at int) any {
	state, message := "True", ""
	if at == m.count-1 {
		state, message = "Unknown", "Kubelet stopped posting node status."
	}
	return map[string]any{
		"metadata": map[string]any{"name": fmt.Sprintf("node-%04d", at), "annotations": map[string]any{"padding": m.padding}},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": state, "message": message}}},
	}
}

// TestStatusOf5000NodesTakesTwoLists: no kind is listed in more than two requests, and no page is lost.
func TestStatusOf5000NodesTakesTwoLists(t *testing.T) {
	t.Parallel()
	many := &manyNodes{count: 5000, asked: map[string]int{}}
	server := httptest.NewServer(many)
	defer server.Close()
	got := run(t, options{}, "--kubeconfig", kubeconfigFor(t, &rest.Config{Host: server.URL}, ""), "status")
	want := result{out: "Ready: 4999/5000 nodes\n\n" +
		"  OBJECT           STATE          SINCE   WHY\n" +
		"x node/node-4999   NodeNotReady           Kubelet stopped posting node status.\n"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(result{})); diff != "" {
		t.Error(diff)
	}
	asked := map[string]int{
		nodesPlural: 2, "nodepools": 1, "podsets": 1, "virtualmachines": 1, "clusters": 1, "kubeconfigs": 1, "podbuggertools": 1,
	}
	many.mu.Lock()
	defer many.mu.Unlock()
	if diff := cmp.Diff(asked, many.asked); diff != "" {
		t.Errorf("the requests (-want +got):\n%s", diff)
	}
}
