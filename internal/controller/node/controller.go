// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/clearance"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/flow"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/patch"
)

// maxEarly is how long a node waits for all of its pools to be ready for it, so that it is written once and not for each of them.
// After that, no pool holds up another one.
const maxEarly = 2 * time.Second

// replanAfter is when to plan again after another writer has changed the node, or a pool of it, at the same time: the cache needs a moment to see it.
const replanAfter = 20 * time.Millisecond

// Reconciler reconciles nodes with what their pools want.
type Reconciler struct {
	client     client.Client
	recorder   event.Recorder
	clearances *clearance.Clearances
	present    Present
	now        func() time.Time
	prepared   membership.Prepared
	joining    joining
	repairs    repairs
}

// Present tells what the API server has at present, past every cache.
type Present interface {
	// Confirm reports whether a pool is there as the cache has it.
	Confirm(ctx context.Context, pool *nodesv1.NodePool) (bool, error)
	// Gone reports whether none of these pools is there.
	Gone(ctx context.Context, names []string) (bool, error)
}

// New returns a reconciler that reads and writes through c, whose reads have to wait for its own writes. The clearances say which
// nodes may leave their pools; the pool controller grants them, and tells what is present.
func New(
	c client.Client, recorder event.Recorder, clearances *clearance.Clearances, present Present, now func() time.Time,
) *Reconciler {
	return &Reconciler{client: c, recorder: recorder, clearances: clearances, present: present, now: now}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	result, err := r.pass(ctx, request)
	if err != nil {
		return flow.Fail(err).Result()
	}
	return result, nil
}

func (r *Reconciler) pass(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	// Nothing below changes the node but what is sent to the API server.
	if err := r.client.Get(ctx, request.NamespacedName, node, client.UnsafeDisableDeepCopy); err != nil {
		r.joining.drop(request.Name)
		r.repairs.drop(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	list := &nodesv1.NodePoolList{}
	// Nothing below changes a pool, and a pool may hold the originals of a thousand nodes. To wait for each status that is being written would stop all
	// nodes meanwhile, and is no protection: a pass that began just before sees the former one, too.
	if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		return reconcile.Result{}, fmt.Errorf("cannot list pools for node %q: %w", node.Name, err)
	}
	pools := r.prepared.Pools(list)
	plan := membership.NewClearedPlan(node, pools, r.mayLeave(node))
	since := r.joining.observe(node, plan.Pending, r.now())
	if plan.Empty() {
		return reconcile.Result{}, nil
	}
	if left := maxEarly - r.now().Sub(since); plan.Early && !since.IsZero() && left > 0 {
		return flow.LookAgain(left), nil
	}
	if left := r.repairs.wait(node, pools, plan, r.now()); left > 0 {
		return flow.LookAgain(left), nil
	}
	if there, err := r.areThere(ctx, pools, plan); err != nil {
		return reconcile.Result{}, err
	} else if !there {
		return flow.LookAgain(flow.RecheckBehind), nil
	}
	return r.apply(ctx, node, pools, plan)
}

// mayLeave returns what says whether the node may leave a pool.
func (r *Reconciler) mayLeave(node *corev1.Node) func(pool string) bool {
	return func(pool string) bool { return r.clearances.Granted(pool, node.Name) }
}

// areThere reports whether the pools that decide about a plan are there as the cache has them, or not there if it has none. The caches of nodes and
// of pools fill by themselves: a node that a pool has left is not to be put back into it because the end of the pool has not been seen yet, and what a
// pool has put on a node is not to be left on it because the pool has not been seen yet.
func (r *Reconciler) areThere(ctx context.Context, pools membership.Pools, plan *membership.Plan) (bool, error) {
	var unknown []string
	for _, name := range slices.Concat(plan.Members, plan.Leaving, plan.Abandoned) {
		pool, ok := pools[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		if there, err := r.present.Confirm(ctx, pool.NodePool); !there {
			return false, err
		}
	}
	if len(unknown) == 0 {
		return true, nil
	}
	return r.present.Gone(ctx, unknown)
}

// apply sends the plan, unless a pool has changed in the meantime: it could have forgotten already what the plan would put on the node for it. A node that
// is gone needs nothing. For one that has changed in the meantime the plan is computed anew, and never sent again.
func (r *Reconciler) apply(ctx context.Context, node *corev1.Node, pools membership.Pools, plan *membership.Plan) (reconcile.Result, error) {
	versions := planned(pools, plan)
	r.clearances.Writes.Begin(versions)
	defer r.clearances.Writes.End(versions)
	if present, err := r.arePresent(ctx, versions); err != nil {
		return reconcile.Result{}, err
	} else if !present {
		return flow.LookAgain(replanAfter), nil
	}
	raw, err := plan.MergePatch(node)
	if err != nil {
		return reconcile.Result{}, err
	}
	log.FromContext(ctx).V(1).Info("Patching node", "pools", plan.Pending, "record", plan.Record)
	err = r.send(ctx, node, raw)
	outcome := flow.Refused(nodesv1.ReasonNodeRefused, err)
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err):
		countConflict(plan)
		return flow.LookAgain(replanAfter), nil
	case outcome.IsStalled():
		r.recorder.Record(refused(node, pools, plan, err)...)
		if err := r.letGo(ctx, node, pools, plan, raw); err != nil {
			return reconcile.Result{}, err
		}
		return outcome.Result()
	case err == nil:
		if r.repairs.note(node, pools, plan, r.now()) {
			r.recorder.Record(contested(node, pools, plan))
		}
		count(plan)
		r.joining.applied(node.Name, r.now())
		r.recorder.Record(applied(node, pools, plan)...)
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, fmt.Errorf("cannot patch node %q: %w", node.Name, err)
}

// planned returns the versions of the pools for which the plan puts something on the node.
func planned(pools membership.Pools, plan *membership.Plan) []clearance.Version {
	versions := make([]clearance.Version, 0, len(plan.Members)+len(plan.Pending))
	for _, names := range [][]string{plan.Members, plan.Pending} {
		for _, name := range names {
			if pool := pools[name]; pool != nil {
				versions = append(versions, clearance.Version{Pool: name, UID: pool.UID, Generation: pool.Generation})
			}
		}
	}
	return versions
}

// arePresent reports whether the cache still has these versions.
func (r *Reconciler) arePresent(ctx context.Context, versions []clearance.Version) (bool, error) {
	for _, version := range versions {
		pool := &nodesv1.NodePool{}
		err := r.client.Get(ctx, client.ObjectKey{Name: version.Pool}, pool, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("cannot read pool %q: %w", version.Pool, err)
		case pool.UID != version.UID || pool.Generation != version.Generation:
			return false, nil
		}
	}
	return true, nil
}

// letGo takes what pools have left on the node off it, after the API server has refused the whole plan: what one pool wants must not keep another
// one from its end. It sends nothing if that was all of the plan.
func (r *Reconciler) letGo(ctx context.Context, node *corev1.Node, pools membership.Pools, whole *membership.Plan, sent []byte) error {
	if len(whole.Leaving) == 0 {
		return nil
	}
	plan := membership.NewClearedPlan(node, pools.Holding(whole.Leaving), r.mayLeave(node))
	if plan.Empty() {
		return nil
	}
	raw, err := plan.MergePatch(node)
	if err != nil || bytes.Equal(raw, sent) {
		return err
	}
	switch err := r.send(ctx, node, raw); {
	case err == nil:
		count(plan)
		return nil
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err) || flow.Refused(nodesv1.ReasonNodeRefused, err).IsStalled():
		return nil // the event of the whole plan says it, or a new plan follows
	default:
		return fmt.Errorf("cannot patch node %q: %w", node.Name, err)
	}
}

// send patches the node.
func (r *Reconciler) send(ctx context.Context, node *corev1.Node, raw []byte) error {
	target := &corev1.Node{}
	target.Name = node.Name
	return r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, raw), patch.FieldOwner)
}
