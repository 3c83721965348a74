// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-operator/windlass/internal/admission"
)

const (
	// sharedKey is the name in the key of the objects that all pools share. No pool can have it.
	sharedKey = "*"
	// kindNodePool is the kind of the owner of all other objects.
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

// keysOfObject maps an object to the pool that owns it, and a shared object to sharedKey.
func keysOfObject(_ context.Context, object client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(object)
	switch {
	case owner != nil && owner.Kind == kindNodePool:
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: owner.Name}}}
	case owner == nil && admission.IsShared(object.GetName()):
		return []reconcile.Request{{NamespacedName: SharedKey()}}
	default:
		return nil
	}
}
