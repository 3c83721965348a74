// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestUpdatesLetThroughTheChangesThatCount(t *testing.T) {
	t.Parallel()
	declared := Updates[*nodesv1.NodePool](Declared)
	committed := Updates(PoolCommitted)
	pool := func() *build.PoolBuilder { return build.Pool("gpu").UID("a") }
	cases := map[string]struct {
		after               *nodesv1.NodePool
		declared, committed bool
	}{
		"a spec is declared":            {after: pool().Generation(2).Obj(), declared: true},
		"a deletion is declared":        {after: pool().Deleting(time.Now()).Obj(), declared: true},
		"a pause is declared":           {after: pool().Paused().Obj(), declared: true},
		"another pool of that name":     {after: pool().UID("b").Obj(), declared: true},
		"a finalizer is committed":      {after: pool().Finalizer(nodesv1.Finalizer).Obj(), committed: true},
		"a member label is committed":   {after: pool().With(func(p *nodesv1.NodePool) { p.Status.MemberLabel = "a" }).Obj(), committed: true},
		"a ledger is committed":         {after: pool().With(func(p *nodesv1.NodePool) { p.Status.Ledger.Labels = []string{"a"} }).Obj(), committed: true},
		"originals are committed":       {after: pool().With(func(p *nodesv1.NodePool) { p.Status.Originals = []nodesv1.Original{{}} }).Obj(), committed: true},
		"counts are neither":            {after: pool().With(func(p *nodesv1.NodePool) { p.Status.NodeCount = 7 }).Obj()},
		"other annotations are neither": {after: pool().Annotation("team", "a").Obj()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			update := event.UpdateEvent{ObjectOld: pool().Obj(), ObjectNew: tc.after}
			if got := declared.Update(update); got != tc.declared {
				t.Errorf("declared: %t, want %t", got, tc.declared)
			}
			if got := committed.Update(update); got != tc.committed {
				t.Errorf("committed: %t, want %t", got, tc.committed)
			}
			if got := Updates(Declared, PoolCommitted).Update(update); got != (tc.declared || tc.committed) {
				t.Errorf("either: %t", got)
			}
		})
	}
	for name, passes := range map[string]bool{
		"create":  declared.Create(event.CreateEvent{Object: pool().Obj()}),
		"delete":  declared.Delete(event.DeleteEvent{Object: pool().Obj()}),
		"generic": declared.Generic(event.GenericEvent{Object: pool().Obj()}),
	} {
		if !passes {
			t.Errorf("a %s event is held back", name)
		}
	}
}
