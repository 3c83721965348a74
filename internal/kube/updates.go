// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Updates returns a predicate for objects of the type T: it lets through the updates that are one of the changes, and every event
// that is not an update. A controller that other events do not concern sets their functions.
func Updates[T client.Object](changes ...func(before, after T) bool) predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, alsoOK := e.ObjectNew.(T)
		return !ok || !alsoOK || slices.ContainsFunc(changes, func(changed func(before, after T) bool) bool { return changed(before, after) })
	}}
}

// Deleted returns a handler that wakes nobody: it calls forget with the name of each object that is gone.
func Deleted(forget func(name string)) handler.EventHandler {
	return handler.Funcs{
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			forget(e.Object.GetName())
		},
	}
}

// Declared reports whether people have changed what they declare about the object: its spec, and whether it is deleted, replaced or
// paused. Most of the status is what a controller itself reports, and must not wake it.
func Declared[T client.Object](before, after T) bool {
	return Replaced(before, after) ||
		before.GetGeneration() != after.GetGeneration() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		before.GetAnnotations()[status.PausedAnnotation] != after.GetAnnotations()[status.PausedAnnotation]
}

// Replaced reports whether another object has the name: a cache that was away tells of that as of an update.
func Replaced[T client.Object](before, after T) bool { return before.GetUID() != after.GetUID() }

// Edited returns a predicate that lets through what users change: the spec and the annotations, or the whole object. The status is ours.
func Edited() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, Updates(Replaced[client.Object]))
}

// PoolCommitted reports whether the pool has changed what decides about all of its nodes beside its spec: its finalizers, its
// ledger, its originals, and the label that its RuntimeClass selects.
func PoolCommitted(before, after *nodesv1.NodePool) bool {
	return !slices.Equal(before.Finalizers, after.Finalizers) ||
		before.Status.MemberLabel != after.Status.MemberLabel ||
		!equality.Semantic.DeepEqual(before.Status.Ledger, after.Status.Ledger) ||
		!equality.Semantic.DeepEqual(before.Status.Originals, after.Status.Originals)
}
