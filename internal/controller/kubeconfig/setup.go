// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=kubeconfigs,verbs=list;watch;patch
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=kubeconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=kubeconfigs/finalizers,verbs=update
// +kubebuilder:rbac:groups=clusterprovisioner.rke.io,resources=clusters,verbs=list;watch
// +kubebuilder:rbac:groups=core,namespace=windlass-system,resources=secrets,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller, with that many workers, and its event sources.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, workers int) error {
	err := builder.ControllerManagedBy(mgr).
		Named("kubeconfig").
		For(&clusterprovisionerv1alpha1.Kubeconfig{}, builder.WithPredicates(kube.Edited())).
		Watches(&clusterprovisionerv1alpha1.Cluster{}, handler.EnqueueRequestsFromMapFunc(byCluster(mgr.GetCache())),
			builder.WithPredicates(clusterChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(tracing.Passes("kubeconfig", r))
	if err != nil {
		return fmt.Errorf("cannot set up the controller of Kubeconfigs: %w", err)
	}
	return nil
}

// clusterChanged lets through what a Kubeconfig depends on: that the Cluster's own kubeconfig was written, or elsewhere, and that the
// Cluster is deleted. The status only says when; where is for the spec to say.
func clusterChanged() predicate.Predicate {
	return kube.Updates(func(was, is *clusterprovisionerv1alpha1.Cluster) bool {
		before, after := was.Status.KubeconfigRef, is.Status.KubeconfigRef
		moved := (before == nil) != (after == nil) || before != nil && *before != *after
		return moved || was.Status.AppliedConfigHash != is.Status.AppliedConfigHash ||
			was.DeletionTimestamp.IsZero() != is.DeletionTimestamp.IsZero()
	})
}

// byCluster maps a Cluster to the Kubeconfigs that refer to it.
func byCluster(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, cluster client.Object) []reconcile.Request {
		var configs clusterprovisionerv1alpha1.KubeconfigList
		if err := reader.List(ctx, &configs, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for i := range configs.Items {
			if ref := configs.Items[i].Spec.ClusterRef; ref != nil && ref.Name == cluster.GetName() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&configs.Items[i])})
			}
		}
		return requests
	}
}
