// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=clusters,verbs=list;watch;patch
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=clusters/status,verbs=patch
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=clusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=kubeconfigs,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=core,namespace=windlass-system,resources=configmaps,verbs=get;create;patch
// +kubebuilder:rbac:groups=core,namespace=windlass-system,resources=secrets,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller, with that many workers, and its event sources.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, workers int) error {
	runs := make(chan event.GenericEvent, 64)
	err := builder.ControllerManagedBy(mgr).
		Named("cluster").
		For(&clusterprovisionerv1alpha1.Cluster{}, builder.WithPredicates(kube.Edited())).
		Owns(&clusterprovisionerv1alpha1.Kubeconfig{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Channel(r.prober.changed, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(source.Channel(runs, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(tracing.Passes("cluster", r))
	if err != nil {
		return fmt.Errorf("cannot set up the controller of Clusters: %w", err)
	}
	for _, runnable := range []manager.Runnable{r.prober, manager.RunnableFunc(r.forward(mgr.GetCache(), runs))} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("cannot set up the event sources of Clusters: %w", err)
		}
	}
	return nil
}

// forward wakes the Clusters whose runs have made progress.
func (r *Reconciler) forward(reader client.Reader, runs chan<- event.GenericEvent) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case uid := <-r.provisioner.Changed():
				var clusters clusterprovisionerv1alpha1.ClusterList
				if err := reader.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
					continue // the Cluster is reconciled soon anyway
				}
				for i := range clusters.Items {
					if clusters.Items[i].UID == types.UID(uid) {
						runs <- event.GenericEvent{Object: &clusters.Items[i]}
					}
				}
			}
		}
	}
}
