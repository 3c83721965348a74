// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestOneKindWaitsForTheOther has a gateway that knows only the machines, or only the nodes: the other kind is not installed, or it may not be watched.
func TestOneKindWaitsForTheOther(t *testing.T) {
	t.Parallel()
	at := noon.Format(time.RFC3339)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"items":[{"metadata":{"name":"one"},"timestamp":%q,"usage":{"cpu":"250m","memory":"1Mi"}}]}`, at)
	}))
	t.Cleanup(server.Close)
	for plural, want := range map[string][]Point{
		view.MachinesPlural: {{Time: noon, CPUCores: 0.5, MemoryBytes: 1 << 30, Objects: 1}},
		view.NodesPlural:    {{Time: noon, CPUCores: 0.25, MemoryBytes: 1 << 20, Objects: 1}},
	} {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			hub := feed.NewHub(view.Kinds(), time.Now)
			known, _ := hub.Kind(plural)
			one := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": known.GVK.GroupVersion().String(), "kind": known.GVK.Kind,
				"metadata": map[string]any{"name": "one", "uid": "one", "resourceVersion": "1"},
				"status": map[string]any{"server": map[string]any{"usage": map[string]any{
					"cpuCores": 0.5, "memoryBytes": int64(1 << 30), "sampledAt": at,
				}}},
			}}
			client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			if err := known.Store.Replace([]any{one}, "1"); err != nil {
				t.Fatal(err)
			}
			machines, _ := hub.Kind(view.MachinesPlural)
			nodes, _ := hub.Kind(view.NodesPlural)
			r := NewRecorder(Options{
				Machines: machines, Nodes: nodes, Server: client.RESTClient(), Now: func() time.Time { return noon }, Log: logr.Discard(),
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				r.Run(ctx)
			}()
			testkit.Eventually(t, "there is a point", func() bool { return len(r.Series(noon, types.UID("one"))) > 0 })
			cancel()
			<-ended
			if diff := cmp.Diff(want, r.Series(noon, types.UID("one"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
