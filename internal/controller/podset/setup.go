// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/tracing"
)

// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podsets,verbs=list;watch;patch
// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podsets/status,verbs=patch
// +kubebuilder:rbac:groups=apps.jicki.cn,resources=podsets/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// coalesce is how long a change of a child waits for other changes: ten pods that start together are one pass.
// What users change in the PodSet itself does not wait.
const coalesce = 100 * time.Millisecond

// underway is how long a step of a rollout waits: a pass follows once a second, and at once when the rollout is complete.
const underway = time.Second

// Indexes of the cache.
const (
	// indexPods finds pods by the value of their label podSet_cr.
	indexPods = "podset.pods"
	// indexPodSets finds PodSets by the value of that label on their pods, which may be a hash of the name.
	indexPodSets = "podset.label"
	// indexNodePool finds PodSets by the pool that they name.
	indexNodePool = "podset.nodePool"
)

// AddIndexes registers the cache indexes that the Reconciler reads by.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &corev1.Pod{}, indexPods, func(pod client.Object) []string {
		if value := pod.GetLabels()[appsv1alpha1.LabelPodSet]; value != "" {
			return []string{value}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot index pods: %w", err)
	}
	err = indexer.IndexField(ctx, &appsv1alpha1.PodSet{}, indexPodSets, func(podSet client.Object) []string {
		return []string{kube.LabelValue(podSet.GetName())}
	})
	if err != nil {
		return fmt.Errorf("cannot index PodSets: %w", err)
	}
	err = indexer.IndexField(ctx, &appsv1alpha1.PodSet{}, indexNodePool, func(object client.Object) []string {
		if podSet, ok := object.(*appsv1alpha1.PodSet); ok && podSet.Spec.NodePool != "" {
			return []string{podSet.Spec.NodePool}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot index PodSets by pool: %w", err)
	}
	return nil
}

// SetupWithManager registers the controller, with so many workers, and what wakes it up. The indexes of package membership
// have to be registered before.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int) error {
	if err := AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	// The handlers read the cache itself: the client would make them wait for the workers' writes.
	reader := mgr.GetCache()
	err := builder.ControllerManagedBy(mgr).
		Named("podset").
		For(&appsv1alpha1.PodSet{}, builder.WithPredicates(kube.Edited())).
		Watches(&appsv1.Deployment{}, soon(byName(reader))).
		Watches(&policyv1.PodDisruptionBudget{}, soon(byName(reader)), builder.WithPredicates(budgetChanged())).
		Watches(&corev1.Pod{}, soon(byLabel(reader)), builder.WithPredicates(podChanged())).
		Watches(&nodesv1.NodePool{}, soon(byPool(reader)), builder.WithPredicates(poolChanged())).
		Watches(&corev1.Node{}, soon(byNode(reader)), builder.WithPredicates(nodeChanged())).
		WatchesMetadata(&corev1.Namespace{}, soon(byNamespace(reader)), builder.WithPredicates(namespaceChanged())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, EnableWarmup: new(true)}).
		Complete(tracing.Passes("podset", r))
	if err != nil {
		return fmt.Errorf("cannot set up the controller of PodSets: %w", err)
	}
	return nil
}

// budgetChanged drops the status, which changes with every pod and is not read. An owner comes and goes without a new
// generation.
func budgetChanged() predicate.Predicate {
	ownerChanged := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := metav1.GetControllerOf(e.ObjectOld), metav1.GetControllerOf(e.ObjectNew)
		return (was == nil) != (is == nil) || was != nil && was.UID != is.UID
	}}
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{},
		predicate.AnnotationChangedPredicate{}, ownerChanged)
}

// podChanged lets through what a PodSet's status is made of.
func podChanged() predicate.Predicate {
	return kube.Updates(func(was, is *corev1.Pod) bool {
		return counts(was) != counts(is) || was.Spec.NodeName != is.Spec.NodeName ||
			was.Labels[appsv1alpha1.LabelPodSet] != is.Labels[appsv1alpha1.LabelPodSet]
	})
}

// byName maps a child to the PodSet of its name, if there is one. It uses the name and not the owner, because an object that the
// PodSet does not own blocks it until it is deleted. A PodSet that the cache does not have yet is woken up by itself.
func byName(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, child client.Object) []reconcile.Request {
		key := client.ObjectKeyFromObject(child)
		err := reader.Get(ctx, key, &appsv1alpha1.PodSet{}, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return []reconcile.Request{{NamespacedName: key}}
	}
}

// byLabel maps a pod to its PodSet.
func byLabel(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, pod client.Object) []reconcile.Request {
		value := pod.GetLabels()[appsv1alpha1.LabelPodSet]
		if value == "" {
			return nil
		}
		var podSets appsv1alpha1.PodSetList
		if err := reader.List(ctx, &podSets, client.InNamespace(pod.GetNamespace()),
			client.MatchingFields{indexPodSets: value}, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		requests := make([]reconcile.Request, 0, len(podSets.Items))
		for i := range podSets.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&podSets.Items[i])})
		}
		return requests
	}
}

// queue is what handlers add requests to.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// soon enqueues what an object maps to a moment later, so that what happens together is seen together. Of an update, both
// states count: a label may have moved a pod from one PodSet to another.
func soon(mapped handler.MapFunc) handler.EventHandler {
	add := func(ctx context.Context, q queue, latest client.Object, objects ...client.Object) {
		for _, object := range objects {
			for _, request := range mapped(ctx, object) {
				q.AddAfter(request, delay(latest))
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { add(ctx, q, e.Object, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			add(ctx, q, e.ObjectNew, e.ObjectOld, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { add(ctx, q, e.Object, e.Object) },
	}
}

// delay returns how long a change of the object waits: longer in the middle of a rollout, which takes many steps of which only
// the last one is awaited.
func delay(object client.Object) time.Duration {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		if _, isPod := object.(*corev1.Pod); isPod {
			return underway
		}
		return coalesce
	}
	size, counts := or(deployment.Spec.Replicas, 1), deployment.Status
	complete := counts.UpdatedReplicas == size && counts.Replicas == size && counts.AvailableReplicas == size
	if observed(deployment) && !complete {
		return underway
	}
	return coalesce
}
