// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// watchers returns a cache that watches nothing until it is asked to, and ends with the context.
func (r *controlPlane) watchers(ctx context.Context) (cache.Cache, error) {
	made, err := cache.New(r.Config, cache.Options{Scheme: r.scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache: %w", err)
	}
	go func() { _ = made.Start(ctx) }()
	return made, nil
}

// await begins to watch until exactly want objects of the kind are in the state that ok describes.
func (r *controlPlane) await(ctx context.Context, kind client.Object, want int, ok func(client.Object) bool) (*rig.Waiter, error) {
	return rig.Await(ctx, r.cache, kind, want, ok)
}
