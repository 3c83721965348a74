// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package podset

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/internal/membership"
)

// NamespaceMetadata returns what the cache holds namespaces as: they are read for their labels only.
func NamespaceMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

// poolChanged lets through what an explanation is made of. The pool's counts stand for its nodes.
func poolChanged() predicate.Predicate {
	return kube.Updates(kube.Declared, func(was, is *nodesv1.NodePool) bool {
		return was.Status.NodeCount != is.Status.NodeCount ||
			was.Status.ReadyNodeCount != is.Status.ReadyNodeCount ||
			was.Status.SyncedNodeCount != is.Status.SyncedNodeCount ||
			was.Status.Handler != is.Status.Handler ||
			!equality.Semantic.DeepEqual(was.Status.Allocatable, is.Status.Allocatable) ||
			declared(was, nodesv1.ConditionRuntimeClassReady) != declared(is, nodesv1.ConditionRuntimeClassReady) ||
			declared(was, nodesv1.ConditionHandlerAvailable) != declared(is, nodesv1.ConditionHandlerAvailable)
	})
}

// declared returns a condition without its times and generation.
func declared(pool *nodesv1.NodePool, conditionType string) metav1.Condition {
	condition := apimeta.FindStatusCondition(pool.Status.Conditions, conditionType)
	if condition == nil {
		return metav1.Condition{}
	}
	return metav1.Condition{Status: condition.Status, Reason: condition.Reason, Message: condition.Message}
}

// nodeChanged lets through what a pool does not count: whether a node is cordoned, and which of them are ready.
func nodeChanged() predicate.Predicate {
	changed := kube.Updates(func(was, is *corev1.Node) bool {
		return was.Spec.Unschedulable != is.Spec.Unschedulable || readiness(was) != readiness(is)
	})
	changed.CreateFunc = func(event.CreateEvent) bool { return false }
	changed.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return changed
}

func readiness(node *corev1.Node) corev1.ConditionStatus {
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return corev1.ConditionUnknown
	}
	return node.Status.Conditions[i].Status
}

// namespaceChanged lets through the labels of a namespace, by which it is allowed to use a pool.
func namespaceChanged() predicate.Predicate {
	return predicate.And(predicate.LabelChangedPredicate{}, predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	})
}

// byPool maps a pool to the PodSets that wait for it.
func byPool(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, pool client.Object) []reconcile.Request {
		return waiting(ctx, reader, client.MatchingFields{indexNodePool: pool.GetName()})
	}
}

// byNode maps a node to the PodSets that wait for one of its pools.
func byNode(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, node client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, pool := range membership.Concerned(node) {
			requests = append(requests, waiting(ctx, reader, client.MatchingFields{indexNodePool: pool})...)
		}
		return requests
	}
}

// byNamespace maps a namespace to the PodSets in it that wait for their pool.
func byNamespace(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, namespace client.Object) []reconcile.Request {
		return waiting(ctx, reader, client.InNamespace(namespace.GetName()))
	}
}

// waiting returns the PodSets whose pods are missing. The others do not depend on their pool, however often it changes. It goes by the Deployment and not by the PodSet's status, which a pass may be about to write: should the
// Deployment lack pods a moment later, that itself wakes the PodSet up.
func waiting(ctx context.Context, reader client.Reader, which client.ListOption) []reconcile.Request {
	var podSets appsv1alpha1.PodSetList
	if err := reader.List(ctx, &podSets, which, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range podSets.Items {
		podSet := &podSets.Items[i]
		if podSet.Spec.NodePool == "" {
			continue
		}
		key := client.ObjectKeyFromObject(podSet)
		var deployment appsv1.Deployment
		err := reader.Get(ctx, key, &deployment, client.UnsafeDisableDeepCopy)
		if err == nil && lacking(podSet, ownDeployment(podSet, &deployment)) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
	}
	return requests
}
