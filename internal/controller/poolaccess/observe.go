// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/flow"
)

// observation is what a pass sees of the cluster.
type observation struct {
	// pools are all pools for sharedKey, else the pool of the key if it exists.
	pools []*nodesv1.NodePool
	// objects are the objects of the key that the API server supports, in the order in which to write them.
	objects []object
	// unbindable is true for a pool whose bindings cannot be written yet because the policy behind them is missing.
	unbindable bool
}

// object is a policy or binding.
type object struct {
	admission.Ref

	// wanted is the desired object, nil if it should not exist.
	wanted *admission.Object
	// live is the existing object, nil if there is none.
	live client.Object
	// state compares the two if the object is wanted.
	state admission.State
}

// observe reads pools, policies and bindings from the cache.
func (r *Reconciler) observe(ctx context.Context, s *scope) flow.Outcome {
	var err error
	if s.seen.pools, err = r.pools(ctx, s.name); err != nil {
		return flow.Fail(err)
	}
	refs, wanted, err := r.wanted(s)
	if err != nil {
		return flow.Fail(err)
	}
	support, err := admission.Supported(r.client.RESTMapper())
	if err != nil {
		return flow.Fail(err)
	}
	for _, ref := range refs {
		if !support.Has(ref.Kind) {
			continue
		}
		found, err := r.find(ctx, ref, wanted, slices.ContainsFunc(s.seen.pools, admission.Behind))
		if err != nil {
			return flow.Fail(err)
		}
		s.seen.objects = append(s.seen.objects, found)
	}
	if s.name != sharedKey && support.Mutating {
		policy, err := r.find(ctx, admission.ChooseRef(), nil, false)
		if err != nil {
			return flow.Fail(err)
		}
		s.seen.unbindable = policy.live == nil
	}
	return flow.Done()
}

func (r *Reconciler) pools(ctx context.Context, name string) ([]*nodesv1.NodePool, error) {
	if name != sharedKey {
		pool := &nodesv1.NodePool{}
		err := r.client.Get(ctx, client.ObjectKey{Name: name}, pool)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return []*nodesv1.NodePool{pool}, err
	}
	list := &nodesv1.NodePoolList{}
	if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil { // pools are changed only in copies
		return nil, fmt.Errorf("cannot list pools: %w", err)
	}
	pools := make([]*nodesv1.NodePool, 0, len(list.Items))
	for i := range list.Items {
		pools = append(pools, &list.Items[i])
	}
	return pools, nil
}

// wanted returns the names of all objects that the key can have, in the order in which to write them, and the objects that should exist.
func (r *Reconciler) wanted(s *scope) ([]admission.Ref, []admission.Object, error) {
	if s.name == sharedKey {
		objects, err := admission.PolicyObjects(r.namespace)
		refs := make([]admission.Ref, 0, len(objects))
		for _, o := range objects {
			refs = append(refs, o.Ref)
		}
		return refs, objects, err
	}
	refs := admission.BindingNames(s.name)
	slices.Reverse(refs)
	if len(s.seen.pools) == 0 {
		return refs, nil, nil
	}
	objects, err := admission.Bindings(s.seen.pools[0], r.namespace)
	return refs, objects, err
}

// find reads an object and compares it with the wanted one. Behind is true where nodes may not have followed the pool's spec yet.
func (r *Reconciler) find(ctx context.Context, ref admission.Ref, wanted []admission.Object, behind bool) (object, error) {
	found := object{Ref: ref}
	live := ref.Live()
	err := r.client.Get(ctx, client.ObjectKeyFromObject(live), live)
	switch {
	case err == nil:
		found.live = live
	case !apierrors.IsNotFound(err):
		return found, fmt.Errorf("cannot read %s %q: %w", ref.Kind, ref.Name, err)
	}
	i := slices.IndexFunc(wanted, func(o admission.Object) bool { return o.Ref == ref })
	if i < 0 {
		return found, nil
	}
	present := wanted[i]
	if behind {
		if present, err = present.Meanwhile(found.live); err != nil {
			return found, fmt.Errorf("cannot compare %s %q with earlier specs: %w", ref.Kind, ref.Name, err)
		}
	}
	found.wanted = &present
	found.state, err = present.Compare(found.live)
	return found, err
}

// confirm drops the plan if the pools are not what the cache says. The event that the cache is missing brings the key back.
func (r *Reconciler) confirm(ctx context.Context, s *scope) flow.Outcome {
	if s.plan.creates() {
		alive, err := r.anyAlive(ctx, s.plan.creators)
		if err != nil {
			return flow.Fail(err)
		}
		if !alive {
			s.plan = plan{}
		}
	}
	if s.plan.last && len(s.plan.remove) > 0 {
		gone, err := r.noneExists(ctx, s.name)
		if err != nil {
			return flow.Fail(err)
		}
		if !gone {
			s.plan = plan{}
		}
	}
	return flow.Done()
}

// anyAlive asks the API server whether one of the pools exists and is not being deleted.
func (r *Reconciler) anyAlive(ctx context.Context, pools []*nodesv1.NodePool) (bool, error) {
	for _, pool := range pools {
		live := poolMetadata()
		err := r.live.Get(ctx, client.ObjectKeyFromObject(pool), live)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("cannot look for pool %q: %w", pool.Name, err)
		}
		if err == nil && live.UID == pool.UID && live.DeletionTimestamp.IsZero() {
			return true, nil
		}
	}
	return false, nil
}

// noneExists asks the API server whether the pool of that name is gone, or for sharedKey every pool.
func (r *Reconciler) noneExists(ctx context.Context, name string) (bool, error) {
	if name == sharedKey {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(nodesv1.SchemeGroupVersion.WithKind("NodePoolList"))
		if err := r.live.List(ctx, list, client.Limit(1)); err != nil {
			return false, fmt.Errorf("cannot look for pools: %w", err)
		}
		return len(list.Items) == 0, nil
	}
	err := r.live.Get(ctx, client.ObjectKey{Name: name}, poolMetadata())
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("cannot look for pool %q: %w", name, err)
	}
	return apierrors.IsNotFound(err), nil
}

func poolMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(nodesv1.SchemeGroupVersion.WithKind(kindNodePool))
	return object
}
