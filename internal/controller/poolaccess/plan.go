// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/status"
)

// plan is what a pass has to write.
type plan struct {
	// remove are the objects to delete, in this order.
	remove []client.Object
	// write are the objects to create or update, in this order.
	write []object
	// creators are the pools for which objects may be created.
	creators []*nodesv1.NodePool
	// last is true if no pool is left.
	last bool
	// waits is true if bindings have to wait for the policy behind them.
	waits bool
}

// creates reports whether the plan creates an object.
func (p plan) creates() bool {
	return slices.ContainsFunc(p.write, func(o object) bool { return o.live == nil })
}

// newPlan plans for the pool of that name, or for sharedKey. Pools that are being deleted create nothing; pools that are paused or in
// dry run change nothing unless they are being deleted.
func newPlan(name string, seen observation) plan {
	p := plan{last: len(seen.pools) == 0}
	p.creators = slices.DeleteFunc(slices.Clone(seen.pools), func(pool *nodesv1.NodePool) bool {
		return !pool.DeletionTimestamp.IsZero() || rests(pool)
	})
	active := len(p.creators) > 0
	leaving := slices.ContainsFunc(seen.pools, func(pool *nodesv1.NodePool) bool { return !pool.DeletionTimestamp.IsZero() })
	for _, o := range seen.objects {
		switch {
		case o.wanted == nil || p.last:
			if o.live != nil && owned(o.live, name) && (p.last || active || leaving) {
				p.remove = append(p.remove, o.live)
			}
		case o.state == admission.Missing && active, o.state == admission.Different && (active || leaving):
			if seen.unbindable && o.Kind == admission.MutatingBinding {
				p.waits = true
				continue
			}
			p.write = append(p.write, o)
		}
	}
	slices.Reverse(p.remove)
	return p
}

// rests reports whether the pool is paused or in dry run.
func rests(pool *nodesv1.NodePool) bool { return status.IsPaused(pool) || pool.Spec.DryRun }

// owned reports whether the object belongs to Windlass, and to the pool of that name, or for sharedKey to no pool.
func owned(live client.Object, name string) bool {
	if !admission.Managed(live) {
		return false
	}
	if name == sharedKey {
		return metav1.GetControllerOf(live) == nil
	}
	return admission.PoolOf(live) == name
}
