// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"sync"
)

// How many containers one call inspects at the same time. More counters are read at the same time: engines before 25 answer only
// with their next reading, which they take once a second for all containers, so that is waiting and not work. Through SSH every
// connection is a process, so there the smaller number holds for both.
const (
	parallel        = 8
	parallelWaiting = 64
)

// each calls do for every item, at most limit of them at the same time, and returns the results in the order of the items. The first
// error ends it.
func each[T, R any](ctx context.Context, limit int, items []T, do func(context.Context, T) (R, error)) ([]R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	out, free := make([]R, len(items)), make(chan struct{}, limit)
	for i, item := range items {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			var err error
			if out[i], err = do(ctx, item); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}
