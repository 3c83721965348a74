// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podbuggertools,verbs=list;watch;patch
// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podbuggertools/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=pods/ephemeralcontainers,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// coalesce is how long a change of a pod waits for other changes: a Deployment that starts causes few passes.
const coalesce = 200 * time.Millisecond

// SetupWithManager registers the controller and what wakes it up. The caches give it its pods, and have been made for it.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, pods *PodCaches) error {
	err := builder.ControllerManagedBy(mgr).
		Named("podbuggertool").
		For(&appsv1alpha1.PodBuggerTool{}, builder.WithPredicates(kube.Edited())).
		WatchesRawSource(source.Func(pods.wakeup.Start)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(tracing.Passes("podbuggertool", r))
	if err != nil {
		return fmt.Errorf("cannot set up the controller of PodBuggerTools: %w", err)
	}
	if err := mgr.Add(pods); err != nil {
		return fmt.Errorf("cannot add the caches of pods: %w", err)
	}
	return nil
}
