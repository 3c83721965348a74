// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
)

const (
	// sharedKey is the name in the key of the objects that all pools share. No pool can have it.
	sharedKey = "*"
	// kindNodePool is the kind of a pool.
	kindNodePool = "NodePool"
)

// SharedKey returns the key of the objects that all pools share.
func SharedKey() types.NamespacedName { return types.NamespacedName{Name: sharedKey} }

// keysOfPool maps a pool to its own key and to sharedKey.
func keysOfPool(_ context.Context, pool client.Object) []reconcile.Request {
	return []reconcile.Request{
		{NamespacedName: types.NamespacedName{Name: pool.GetName()}},
		{NamespacedName: SharedKey()},
	}
}

// keysOfObject maps an object to the pool that it belongs to, and a shared object to sharedKey and to all pools, whose bindings may wait for it.
func keysOfObject(cache client.Reader) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		if pool := admission.PoolOf(object); pool != "" {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: pool}}}
		}
		if metav1.GetControllerOf(object) != nil || !admission.IsShared(object.GetName()) {
			return nil
		}
		keys := []reconcile.Request{{NamespacedName: SharedKey()}}
		list := &nodesv1.NodePoolList{}
		if cache.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
			return keys
		}
		for i := range list.Items {
			keys = append(keys, reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
		}
		return keys
	}
}
