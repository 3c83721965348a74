// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IndexField is the name of the index from a pool's name to the nodes that have its role label or carry something of it.
const IndexField = "windlass.pool"

// AddIndexes registers IndexField.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Node{}, IndexField, Concerned)
}

// Nodes returns the nodes that are members of the pool or carry something of it, from a cache with IndexField. They are not
// copied and must not be changed. Only a pool that picks its nodes makes it look at all of them.
func Nodes(ctx context.Context, cached client.Reader, pool *Pool) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if !pool.Picks() {
		options = append(options, client.MatchingFields{IndexField: pool.Name})
	}
	if err := cached.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("cannot list the nodes of pool %q: %w", pool.Name, err)
	}
	if !pool.Picks() {
		return list.Items, nil
	}
	return slices.DeleteFunc(list.Items, func(node corev1.Node) bool {
		return !slices.Contains(Concerned(&node), pool.Name) && !pool.Has(&node)
	}), nil
}
