// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"time"
)

// Until repeats a check until it succeeds. When the context ends first, it returns the last complaint from before the end.
func Until(ctx context.Context, every time.Duration, check func(ctx context.Context) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), last)
		case <-tick.C:
		}
	}
}
