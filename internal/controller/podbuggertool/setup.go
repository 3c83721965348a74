// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podbuggertool

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/kube"
)

// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podbuggertools,verbs=list;watch
// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podbuggertools/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=pods/ephemeralcontainers,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// coalesce is how long a change of a pod waits for other changes: a Deployment that starts causes few passes.
const coalesce = 200 * time.Millisecond

// SetupWithManager registers the controller and what wakes it up. The caches give it its pods, and have been made for it.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, pods *PodCaches) error {
	built, err := builder.ControllerManagedBy(mgr).
		Named("podbuggertool").
		For(&appsv1alpha1.PodBuggerTool{}, builder.WithPredicates(toolChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Build(r)
	if err != nil {
		return fmt.Errorf("cannot set up the controller of PodBuggerTools: %w", err)
	}
	reader := mgr.GetCache() // the client would make the handler wait for the worker's writes
	pods.watch = func(opened cache.Cache) error {
		return built.Watch(source.Kind[client.Object](opened, &corev1.Pod{}, byLabels(reader), podChanged()))
	}
	if err := mgr.Add(pods); err != nil {
		return fmt.Errorf("cannot add the caches of pods: %w", err)
	}
	return nil
}

// toolChanged lets through what users change: the spec and the annotation that pauses. The status is ours.
func toolChanged() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
}

// podChanged lets through what a tool's status is made of.
func podChanged() predicate.Predicate {
	return kube.Updates(func(was, is *corev1.Pod) bool {
		return live(was) != live(is) || was.Status.Phase != is.Status.Phase || !maps.Equal(was.Labels, is.Labels) ||
			!equality.Semantic.DeepEqual(was.Spec.EphemeralContainers, is.Spec.EphemeralContainers) ||
			!equality.Semantic.DeepEqual(was.Status.EphemeralContainerStatuses, is.Status.EphemeralContainerStatuses)
	})
}

// byLabels wakes up the tools of the pod's namespace that match it, or did so before.
func byLabels(reader client.Reader) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, q queue, pods ...client.Object) {
		var tools appsv1alpha1.PodBuggerToolList
		if err := reader.List(ctx, &tools, client.InNamespace(pods[0].GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return
		}
		for i := range tools.Items {
			selector, err := selectorOf(&tools.Items[i])
			for _, pod := range pods {
				if err == nil && selector.Matches(labels.Set(pod.GetLabels())) {
					q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tools.Items[i])}, coalesce)
				}
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { wake(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, q, e.Object) },
	}
}
