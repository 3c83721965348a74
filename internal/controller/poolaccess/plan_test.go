// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/status"
)

const gpu = "gpu"

func aPool(name string, changes ...func(*nodesv1.NodePool)) *nodesv1.NodePool {
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "new"}}
	for _, change := range changes {
		change(pool)
	}
	return pool
}

func going(pool *nodesv1.NodePool) { now := metav1.Now(); pool.DeletionTimestamp = &now }

func paused(pool *nodesv1.NodePool) {
	pool.Annotations = map[string]string{status.PausedAnnotation: "true"}
}

func rehearsing(pool *nodesv1.NodePool) { pool.Spec.DryRun = true }

// anObject returns an object that is wanted.
func anObject(name string, state admission.State, owner string) object {
	o := leftover(name, owner)
	o.wanted, o.state = &admission.Object{Ref: o.Ref}, state
	if state == admission.Missing {
		o.live = nil
	}
	return o
}

// leftover returns an object that is not wanted.
func leftover(name, owner string) object {
	ref := admission.Ref{Kind: admission.MutatingBinding, Name: name}
	live := ref.Live()
	live.SetLabels(map[string]string{admission.LabelManagedBy: admission.ManagedBy})
	if owner != "" {
		live.SetOwnerReferences([]metav1.OwnerReference{{Kind: "NodePool", Name: owner, UID: "old", Controller: new(true)}})
	}
	return object{Ref: ref, live: live}
}

// guarding returns an object that keeps pods from the pool.
func guarding(name, pool string) object {
	o := leftover(name, "")
	o.live.SetLabels(map[string]string{admission.LabelManagedBy: admission.ManagedBy, nodesv1.PoolLabel: pool})
	return o
}

func wantedAs(o object, state admission.State) object {
	o.wanted, o.state = &admission.Object{Ref: o.Ref}, state
	return o
}

// foreign returns an object of somebody else's.
func foreign(o object) object {
	o.live.SetLabels(nil)
	return o
}

func TestNewPlan(t *testing.T) {
	t.Parallel()
	pools := func(list ...*nodesv1.NodePool) []*nodesv1.NodePool { return list }
	objects := func(list ...object) []object { return list }
	missing, different := admission.Missing, admission.Different
	cases := map[string]struct {
		name          string
		seen          observation
		write, remove []string
	}{
		"what a pool lacks is written, in order": {
			name: gpu, write: []string{"a", "b"},
			seen: observation{pools: pools(aPool(gpu)), objects: objects(
				anObject("a", missing, gpu), anObject("b", different, gpu), anObject("c", admission.InPlace, gpu),
			)},
		},
		"what a pool does not want is removed, the last first": {
			name: gpu, remove: []string{"b", "a"},
			seen: observation{pools: pools(aPool(gpu)), objects: objects(leftover("a", gpu), leftover("b", gpu))},
		},
		"bindings wait for the policy behind them": {
			name: gpu, remove: []string{"c"},
			seen: observation{pools: pools(aPool(gpu)), unbindable: true, objects: objects(
				anObject("a", missing, gpu), anObject("b", different, gpu), leftover("c", gpu),
			)},
		},
		"somebody else's object is left alone": {
			name: gpu,
			seen: observation{pools: pools(aPool(gpu)), objects: objects(
				foreign(leftover("a", gpu)), foreign(anObject("b", admission.Foreign, gpu)), leftover("c", "other"), leftover("d", ""),
			)},
		},
		"deletion updates and removes, and creates nothing": {
			name: gpu, write: []string{"b"}, remove: []string{"c"},
			seen: observation{pools: pools(aPool(gpu, going)), objects: objects(
				anObject("a", missing, gpu), anObject("b", different, gpu), leftover("c", gpu),
			)},
		},
		"deletion goes before a pause": {
			name: gpu, remove: []string{"a"},
			seen: observation{pools: pools(aPool(gpu, going, paused)), objects: objects(leftover("a", gpu), anObject("b", missing, gpu))},
		},
		"a paused pool changes nothing": {
			name: gpu,
			seen: observation{pools: pools(aPool(gpu, paused)), objects: objects(
				leftover("a", gpu), anObject("b", missing, gpu), anObject("c", different, gpu),
			)},
		},
		"a pool in dry run changes nothing": {
			name: gpu,
			seen: observation{pools: pools(aPool(gpu, rehearsing)), objects: objects(leftover("a", gpu), anObject("b", missing, gpu))},
		},
		"what a pool left behind is removed": {
			name: gpu, remove: []string{"b", "a"},
			seen: observation{objects: objects(leftover("a", gpu), leftover("b", gpu), leftover("c", "other"), foreign(leftover("d", gpu)))},
		},
		"what guarded a pool goes after it": {
			name: gpu, remove: []string{"a"},
			seen: observation{objects: objects(guarding("a", gpu), guarding("b", "other"), foreign(guarding("c", gpu)))},
		},
		"what guards a pool stays while it is being deleted": {
			name: gpu,
			seen: observation{pools: pools(aPool(gpu, going)), objects: objects(wantedAs(guarding("a", gpu), admission.InPlace))},
		},
		"shared objects are written for a pool that stays": {
			name: sharedKey, write: []string{"a", "b"},
			seen: observation{pools: pools(aPool("x", going), aPool("y", paused), aPool("z")), objects: objects(
				anObject("a", missing, ""), anObject("b", different, ""),
			)},
		},
		"shared objects are not made again for pools that go": {
			name: sharedKey, write: []string{"b"},
			seen: observation{pools: pools(aPool("x", going), aPool("y", paused)), objects: objects(
				anObject("a", missing, ""), anObject("b", different, ""),
			)},
		},
		"shared objects go after the last pool": {
			name: sharedKey, remove: []string{"b", "a"},
			seen: observation{objects: objects(
				anObject("a", admission.InPlace, ""), anObject("b", different, ""), anObject("c", missing, ""), foreign(anObject("d", admission.Foreign, "")),
			)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newPlan(tc.name, tc.seen)
			var write, remove []string
			for _, o := range got.write {
				write = append(write, o.Name)
			}
			for _, o := range got.remove {
				remove = append(remove, o.GetName())
			}
			if diff := cmp.Diff([][]string{tc.write, tc.remove}, [][]string{write, remove}); diff != "" {
				t.Errorf("written and removed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeysOfObjects(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		object client.Object
		want   []string
	}{
		"an object of a pool":                   {object: leftover("windlass-nodepool-label-gpu", gpu).live, want: []string{gpu}},
		"an object that guards a pool":          {object: guarding("windlass-nodepool-allowed-gpu", gpu).live, want: []string{gpu}},
		"an object that somebody else made":     {object: foreign(guarding("windlass-nodepool-allowed-gpu", gpu)).live},
		"an object of all pools":                {object: leftover("windlass-nodepool-choose", "").live, want: []string{sharedKey, gpu, "other"}},
		"an object that no pool knows":          {object: leftover("windlass-nodepool-mine", "").live},
		"an object that something else brought": {object: ownedBy(leftover("windlass-nodepool-choose", "").live, "Release")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, request := range keysOfObject(cached{aPool(gpu), aPool("other")})(t.Context(), tc.object) {
				got = append(got, request.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the keys (-want +got):\n%s", diff)
			}
		})
	}
}

// cached is a cache with these pools.
type cached []*nodesv1.NodePool

// Get implements client.Reader.
func (cached) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.ErrUnsupported
}

// List implements client.Reader.
func (c cached) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pools, ok := list.(*nodesv1.NodePoolList)
	if !ok {
		return errors.ErrUnsupported
	}
	for _, pool := range c {
		pools.Items = append(pools.Items, *pool)
	}
	return nil
}

func ownedBy(object client.Object, kind string) client.Object {
	object.SetOwnerReferences([]metav1.OwnerReference{{Kind: kind, Name: "x", Controller: new(true)}})
	return object
}
