// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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

// recorderOf returns a Recorder at noon that knows these objects of the kind, and none of the other kind.
func recorderOf(t *testing.T, server, plural string, names ...string) *Recorder {
	t.Helper()
	hub := feed.NewHub(view.Kinds(), time.Now)
	known, _ := hub.Kind(plural)
	var objects []any
	for _, name := range names {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": known.GVK.GroupVersion().String(), "kind": known.GVK.Kind,
			"metadata": map[string]any{"name": name, "uid": name, "resourceVersion": "1"},
			"status": map[string]any{"server": map[string]any{"usage": map[string]any{
				"cpuCores": 0.5, "memoryBytes": int64(1 << 30), "sampledAt": noon.Format(time.RFC3339),
			}}},
		}})
	}
	if err := known.Store.Replace(objects, "1"); err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server})
	if err != nil {
		t.Fatal(err)
	}
	machines, _ := hub.Kind(view.MachinesPlural)
	nodes, _ := hub.Kind(view.NodesPlural)
	return NewRecorder(Options{
		Machines: machines, Nodes: nodes, Server: client.RESTClient(), Now: func() time.Time { return noon }, Log: logr.Discard(),
	})
}

// TestOneKindWaitsForTheOther has a gateway that knows only the machines, or only the nodes: the other kind is not installed, or it may not be watched.
func TestOneKindWaitsForTheOther(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"items":[{"metadata":{"name":"one"},"timestamp":%q,"usage":{"cpu":"250m","memory":"1Mi"}}]}`, noon.Format(time.RFC3339))
	}))
	t.Cleanup(server.Close)
	for plural, want := range map[string][]Point{
		view.MachinesPlural: {{Time: noon, CPUCores: 0.5, MemoryBytes: 1 << 30, Objects: 1}},
		view.NodesPlural:    {{Time: noon, CPUCores: 0.25, MemoryBytes: 1 << 20, Objects: 1}},
	} {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			r := recorderOf(t, server.URL, plural, "one")
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

// TestTheSumOfTheLastMinuteLacksNodes reads nodes at once that metrics-server has measured one after the other, on both sides of a minute.
func TestTheSumOfTheLastMinuteLacksNodes(t *testing.T) {
	t.Parallel()
	for sentence, tt := range map[string]struct {
		ages []time.Duration
		want []Point
	}{
		"both are of now": {
			ages: []time.Duration{5 * time.Second, -5 * time.Second},
			want: []Point{{Time: noon, CPUCores: 3, MemoryBytes: 2 << 20, Objects: 2}},
		},
		"one has not been measured for minutes": {
			ages: []time.Duration{3 * time.Minute, 30 * time.Second},
			want: []Point{{Time: at(-3), CPUCores: 1, MemoryBytes: 1 << 20, Objects: 1}, {Time: noon, CPUCores: 2, MemoryBytes: 1 << 20, Objects: 1}},
		},
		"the clock of who measures one is ahead": {
			ages: []time.Duration{-3 * time.Minute, 90 * time.Second},
			want: []Point{{Time: noon, CPUCores: 2, MemoryBytes: 1 << 20, Objects: 1}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var items []string
			for i, age := range tt.ages {
				items = append(items, fmt.Sprintf(`{"metadata":{"name":"%d"},"timestamp":%q,"usage":{"cpu":"%d","memory":"1Mi"}}`, i, noon.Add(-age).Format(time.RFC3339), i+1))
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
			}))
			t.Cleanup(server.Close)
			r := recorderOf(t, server.URL, view.NodesPlural, "0", "1")
			r.Take(t.Context())
			if diff := cmp.Diff(tt.want, r.Series(noon, "0", "1")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
