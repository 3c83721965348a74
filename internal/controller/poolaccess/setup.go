// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package poolaccess

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/admission"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingadmissionpolicies;mutatingadmissionpolicybindings;validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list;watch;create;patch;delete

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, workers int) error {
	controlled := builder.ControllerManagedBy(mgr).
		Named("poolaccess").
		Watches(&nodesv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(keysOfPool), builder.WithPredicates(poolChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)})
	objects := handler.EnqueueRequestsFromMapFunc(keysOfObject(mgr.GetCache())) // the client would wait for the workers' writes
	support, err := admission.Supported(mgr.GetRESTMapper())
	if err != nil {
		return err
	}
	for _, kind := range admission.Kinds() {
		if support.Has(kind) {
			controlled.Watches(admission.Ref{Kind: kind}.Live(), objects)
		}
	}
	return controlled.Complete(tracing.Passes("poolaccess", r))
}

// poolChanged passes changes of the spec, the annotations and the deletion timestamp. Of the status, plans depend on whether all nodes follow the spec of
// a pool that is not for everybody.
func poolChanged() predicate.Predicate {
	return kube.Updates(kube.Declared, func(before, after *nodesv1.NodePool) bool {
		guarded := after.Spec.AllowedNamespaces != nil
		return !maps.Equal(before.Annotations, after.Annotations) || guarded && admission.Behind(before) != admission.Behind(after)
	})
}
