// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"time"
)

// repeat does something now and after every pause, until it is done or the caller leaves.
func repeat(ctx context.Context, pause time.Duration, do func() (done bool, err error)) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		if done, err := do(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		}
	}
}
