// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
)

// pageSize is how many objects one request lists.
const pageSize = 2500

// listAll lists a kind page by page, in a namespace if one is given.
func (c *cluster) listAll(ctx context.Context, into client.ObjectList, each func(), namespace string, more ...client.ListOption) error {
	options := append([]client.ListOption{client.InNamespace(namespace), client.Limit(pageSize)}, more...)
	for token := ""; ; {
		into.SetContinue("")
		if err := c.List(ctx, into, append(options, client.Continue(token))...); err != nil {
			return err
		}
		each()
		if token = into.GetContinue(); token == "" {
			return nil
		}
	}
}

// unseen returns why the caller does not see objects, as a part of a sentence; empty for other errors, which stay.
func unseen(err error, what string) (string, error) {
	if apierrors.IsForbidden(err) {
		return "you may not list " + what, nil
	}
	return "", err
}

// Pools returns all pools, or why the caller does not see them.
func (c *cluster) Pools(ctx context.Context) (membership.Pools, string, error) {
	all, page := &nodesv1.NodePoolList{}, &nodesv1.NodePoolList{}
	err := c.listAll(ctx, page, func() { all.Items = append(all.Items, page.Items...) }, "")
	if because, err := unseen(err, "nodepools"); because != "" || err != nil {
		return nil, because, err
	}
	return membership.NewPools(all), "", nil
}
