// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Until repeats a check until it succeeds. When the context ends first, it returns the last complaint from before the end.
func Until(ctx context.Context, every time.Duration, check func(ctx context.Context) error) error {
	return until(ctx, wait.Backoff{Duration: every}, check)
}

// UntilLater is Until for what may take long: it checks less and less often, from every so often to a tenth as often.
func UntilLater(ctx context.Context, every time.Duration, check func(ctx context.Context) error) error {
	return until(ctx, wait.Backoff{Duration: every, Factor: 1.25, Cap: 10 * every, Steps: math.MaxInt}, check)
}

func until(ctx context.Context, backoff wait.Backoff, check func(ctx context.Context) error) error {
	var last error
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if ctx.Err() == nil || last == nil {
			last = err
		}
		return err == nil, nil
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ctx.Err(), last)
}
