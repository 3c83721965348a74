// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleteAll deletes all objects of a kind in the bench's namespace.
func (r *controlPlane) deleteAll(ctx context.Context, kind schema.GroupVersionKind) error {
	list, err := r.names(ctx, kind, 0)
	if err != nil {
		return err
	}
	return forEach(ctx, writers, len(list.Items), func(ctx context.Context, i int) error {
		err := r.Client.Delete(ctx, &list.Items[i], client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete %s %q: %w", kind.Kind, list.Items[i].Name, err)
		}
		return nil
	})
}

// empty waits until there is no object of a kind in the bench's namespace, and deletes what comes up in the meantime: a
// controller may have created another one before it saw that its owner is gone.
func (r *controlPlane) empty(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		list, err := r.names(ctx, kind, 1)
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("cannot wait any longer for every %s to be gone: %w", kind.Kind, err)
		}
		if err := r.deleteAll(ctx, kind); err != nil {
			return err
		}
	}
}

// names lists the objects of a kind by name, at most so many.
func (r *controlPlane) names(ctx context.Context, kind schema.GroupVersionKind, limit int64) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := r.Client.List(ctx, list, client.InNamespace(benchNamespace), client.Limit(limit)); err != nil {
		return nil, fmt.Errorf("cannot list every %s: %w", kind.Kind, err)
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
	}
	return list, nil
}
