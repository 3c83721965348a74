// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"context"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
)

// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingadmissionpolicies;mutatingadmissionpolicybindings;validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=get;list;watch;create;patch;delete

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, workers int) error {
	controlled := builder.ControllerManagedBy(mgr).
		Named("poolaccess").
		Watches(&nodesv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(keysOfPool), builder.WithPredicates(poolChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)})
	support, err := admission.Supported(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	for _, kind := range admission.Kinds() {
		if support.Has(kind) {
			controlled.Watches(admission.Ref{Kind: kind}.Live(), handler.EnqueueRequestsFromMapFunc(keysOfObject))
		}
	}
	return controlled.Complete(r)
}

// keysOfPool wakes up the pool, and the objects that all pools share.
func keysOfPool(_ context.Context, pool client.Object) []reconcile.Request {
	return []reconcile.Request{
		{NamespacedName: types.NamespacedName{Name: pool.GetName()}},
		{NamespacedName: SharedKey()},
	}
}

// keysOfObject maps an object to the pool that owns it, and one without an owner to the objects that all pools share.
func keysOfObject(_ context.Context, object client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(object)
	switch {
	case owner != nil && owner.Kind == "NodePool":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: owner.Name}}}
	case owner == nil && admission.IsShared(object.GetName()):
		return []reconcile.Request{{NamespacedName: SharedKey()}}
	default:
		return nil
	}
}

// poolChanged lets through what decides: the spec, the annotations and the deletion. The counts in the status decide nothing.
func poolChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.GetUID() != after.GetUID() || before.GetGeneration() != after.GetGeneration() ||
				before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
				!maps.Equal(before.GetAnnotations(), after.GetAnnotations())
		},
	}
}
