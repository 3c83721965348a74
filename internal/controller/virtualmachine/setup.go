// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualmachine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cloudnativev1alpha1 "github.com/windlass-operator/windlass/api/cloudnative/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Secrets can be got and neither listed nor watched: the manager reads those whose names users have written into a spec, and
// knows no others.
//
// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cloudnative.tw,resources=virtualmachines/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=core,resources=events,verbs=create;patch

// indexHost finds VirtualMachines by the host that their machines are on, empty for those that have none.
const indexHost = "virtualmachine.host"

// drainTimeout is how long operations may take to end when the manager does.
const drainTimeout = 15 * time.Second

// AddIndexes registers the cache indexes that the Reconciler reads by.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &cloudnativev1alpha1.VirtualMachine{}, indexHost, func(object client.Object) []string {
		vm, ok := object.(*cloudnativev1alpha1.VirtualMachine)
		if !ok {
			return nil
		}
		return []string{locationOf(vm).host}
	})
	if err != nil {
		return fmt.Errorf("cannot index VirtualMachines by host: %w", err)
	}
	return nil
}

// SetupWithManager registers the controller, with so many workers, what wakes it up, and what runs beside it.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int) error {
	if err := AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := mgr.Add(r); err != nil {
		return fmt.Errorf("cannot add what runs beside the controller of VirtualMachines: %w", err)
	}
	err := builder.ControllerManagedBy(mgr).
		Named("virtualmachine").
		For(&cloudnativev1alpha1.VirtualMachine{}, builder.WithPredicates(changed())).
		WatchesRawSource(source.Func(r.bell.start)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(false)}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot set up the controller of VirtualMachines: %w", err)
	}
	return nil
}

// changed lets through what users change: the spec, the annotation that pauses, and the record of the host where somebody takes it
// away. The status is ours, the usage in it the sampler's: neither is news.
func changed() predicate.Predicate {
	edited := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		_, had := e.ObjectOld.GetAnnotations()[cloudnativev1alpha1.PlacementAnnotation]
		_, has := e.ObjectNew.GetAnnotations()[cloudnativev1alpha1.PlacementAnnotation]
		return status.IsPaused(e.ObjectOld) != status.IsPaused(e.ObjectNew) || had && !has ||
			e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	}}
	return predicate.Or(predicate.GenerationChangedPredicate{}, edited)
}

// Start implements manager.Runnable: it looks after the hosts, reads usage and sweeps, until ctx ends. Then it ends all operations
// before it lets the hosts go. It runs on the leader only, as controllers do.
func (r *Reconciler) Start(ctx context.Context) error {
	if err := metrics.Registry.Register(r.sampler); err != nil {
		return fmt.Errorf("cannot register the metrics of machines: %w", err)
	}
	defer metrics.Registry.Unregister(r.sampler)

	// The hosts are left last: operations that end want to say so to them.
	reachable, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	var fleet, beside sync.WaitGroup
	fleet.Go(func() { _ = r.fleet.Start(reachable) }) // which returns nil by contract
	for _, host := range r.fleet.Hosts() {
		beside.Go(func() { r.sampler.run(ctx, host.Host.Name) })
		beside.Go(func() { r.sweeper.run(ctx, host.Host.Name) })
	}
	<-ctx.Done()
	draining, cancel := context.WithTimeout(reachable, drainTimeout)
	defer cancel()
	r.operations.drain(draining)
	beside.Wait()
	leave()
	fleet.Wait()
	return nil
}
