// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/usage"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// TestThePoolHasNoUsageWhileItsLabelChanges: the pool has got segments, and not all of its members have the label of such a pool yet.
func TestThePoolHasNoUsageWhileItsLabelChanges(t *testing.T) {
	t.Parallel()
	hub := feed.NewHub(view.Kinds(), time.Now)
	nodes, _ := hub.Kind(view.NodesPlural)
	var objects []any
	for name, label := range map[string]string{
		"before": nodesv1.MemberLabel("edge"), "after": nodesv1.AddressLabel("edge"), "other": nodesv1.MemberLabel("gpu"), "role": nodesv1.RoleLabel("edge"),
	} {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "uid": name, "resourceVersion": "1", "labels": map[string]any{label: ""}},
		}})
	}
	if err := nodes.Store.Replace(objects, "1"); err != nil {
		t.Fatal(err)
	}
	a := &API{Options: Options{Now: time.Now, Hub: hub}, nodes: nodes}
	members, err := a.membersOf(t.Context(), &view.Item{Name: "edge", JSON: []byte(`{"metadata":{"name":"edge"},"spec":{"nodeCIDRs":["192.0.2.0/24"]}}`)})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(members)
	if diff := cmp.Diff([]types.UID{"after", "before"}, members); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAttackHistoriesAtOnce has a caller who asks for the past of their machine again and again, while Prometheus is slow for them. Everybody else used to wait
// behind all of that, and read in the end that Prometheus did not answer.
func TestAttackHistoriesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &API{Options: Options{Now: time.Now, History: &usage.History{}}, histories: access.NewTurns(usage.HistoriesAtOnce)}
		machine := &view.Item{Created: time.Now().Add(-48 * time.Hour)}
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		defer asking.Wait()
		defer cancel()
		running, refused := 0, 0
		slow := usageOf{past: func(ctx context.Context, _ *view.Item, _ usage.Span) ([]usage.Point, error) {
			running++
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		for range 50 {
			asking.Go(func() {
				if _, err := a.usageSince(access.WithCaller(ctx, caller("ann")), slow, machine, 24, nil, &view.Usage{}); isBusy(err) && ctx.Err() == nil {
					refused++
				}
			})
			synctest.Wait()
		}
		if running != 1 || refused == 0 || refused > 40 {
			t.Errorf("%d questions of one caller are asked and %d are refused, want 1 and some", running, refused)
		}
		quick := usageOf{past: func(context.Context, *view.Item, usage.Span) ([]usage.Point, error) { return []usage.Point{{}}, nil }}
		through := false
		asking.Go(func() {
			points, err := a.usageSince(access.WithCaller(ctx, caller("ben")), quick, machine, 24, nil, &view.Usage{})
			if through = err == nil; len(points) != 1 {
				t.Errorf("somebody else gets %v: %v", points, err)
			}
		})
		if synctest.Wait(); !through {
			t.Error("somebody else waits")
		}
		// Who has something to show is not refused, and does not wait for all who came before: cid has one question under way, ann more than may wait.
		asking.Go(func() {
			_, _ = a.usageSince(access.WithCaller(ctx, caller("cid")), slow, machine, 24, nil, &view.Usage{})
		})
		synctest.Wait()
		for _, name := range []string{"ann", "cid"} {
			recent, begin, about := []usage.Point{{Time: time.Now().Add(-time.Minute)}}, time.Now(), view.Usage{}
			points, err := a.usageSince(access.WithCaller(ctx, caller(name)), slow, machine, 24, recent, &about)
			if waited := time.Since(begin); err != nil || !about.Incomplete || len(points) != 1 || waited > usage.HistoryTimeout {
				t.Errorf("%s gets %v, incomplete %t, after %s: %v", name, points, about.Incomplete, waited, err)
			}
		}
	})
}
