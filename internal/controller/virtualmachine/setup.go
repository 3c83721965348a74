// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// Secrets are not among the rights: each namespace that has some for its VirtualMachines binds the ClusterRole secretReader.
//
// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines,verbs=list;watch;patch
// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller with that many workers. Wakeup is the event source of hosts and operations.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int, wakeup *kube.Wakeup) error {
	if err := kube.AddMachineIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	err := builder.ControllerManagedBy(mgr).
		Named("virtualmachine").
		For(&cloudnativev1alpha1.VirtualMachine{}, builder.WithPredicates(changed())).
		WatchesRawSource(source.Func(wakeup.Start)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(false)}).
		Complete(tracing.Passes("virtualmachine", r))
	if err != nil {
		return fmt.Errorf("cannot set up the controller of VirtualMachines: %w", err)
	}
	return nil
}

// changed lets through what users change: the spec, the annotation that pauses, and the finalizer if somebody removes it. Windlass
// itself writes the status, so a change of it is not news.
func changed() predicate.Predicate {
	return kube.Updates(kube.Declared, func(before, after *cloudnativev1alpha1.VirtualMachine) bool {
		return holds(before) && !holds(after)
	})
}

// holds reports whether Windlass holds the object by its finalizer.
func holds(vm *cloudnativev1alpha1.VirtualMachine) bool {
	return slices.Contains(vm.GetFinalizers(), cloudnativev1alpha1.Finalizer)
}
