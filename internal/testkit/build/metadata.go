// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/status"
)

// Object builds an object of the type T; W is the builder that its methods return. It has what all kinds share.
type Object[T metav1.Object, W any] struct {
	object T
	self   W
}

// Obj returns the object.
func (o *Object[T, W]) Obj() T { return o.object }

// With changes the object in any way.
func (o *Object[T, W]) With(changes ...func(T)) W {
	for _, change := range changes {
		change(o.object)
	}
	return o.self
}

// Namespace sets the namespace.
func (o *Object[T, W]) Namespace(name string) W {
	o.object.SetNamespace(name)
	return o.self
}

// UID sets the UID.
func (o *Object[T, W]) UID(uid types.UID) W {
	o.object.SetUID(uid)
	return o.self
}

// Generation sets the generation.
func (o *Object[T, W]) Generation(generation int64) W {
	o.object.SetGeneration(generation)
	return o.self
}

// MetaLabel adds a label to the object itself.
func (o *Object[T, W]) MetaLabel(key, value string) W {
	o.object.SetLabels(with(o.object.GetLabels(), key, value))
	return o.self
}

// Annotation adds an annotation.
func (o *Object[T, W]) Annotation(key, value string) W {
	o.object.SetAnnotations(with(o.object.GetAnnotations(), key, value))
	return o.self
}

// Paused adds the annotation that stops Windlass from working on the object.
func (o *Object[T, W]) Paused() W { return o.Annotation(status.PausedAnnotation, "true") }

// Finalizer adds finalizers.
func (o *Object[T, W]) Finalizer(names ...string) W {
	o.object.SetFinalizers(append(o.object.GetFinalizers(), names...))
	return o.self
}

// Created sets the time of creation.
func (o *Object[T, W]) Created(at time.Time) W {
	o.object.SetCreationTimestamp(metav1.NewTime(at))
	return o.self
}

// Deleting sets the time of deletion.
func (o *Object[T, W]) Deleting(at time.Time) W {
	o.object.SetDeletionTimestamp(new(metav1.NewTime(at)))
	return o.self
}

// with returns a copy of the map with one more entry.
func with(all map[string]string, key, value string) map[string]string {
	more := maps.Clone(all)
	if more == nil {
		more = map[string]string{}
	}
	more[key] = value
	return more
}

// condition replaces a condition of the same type, or adds it.
func condition(all *[]metav1.Condition, next metav1.Condition) {
	for i := range *all {
		if (*all)[i].Type == next.Type {
			(*all)[i] = next
			return
		}
	}
	*all = append(*all, next)
}
