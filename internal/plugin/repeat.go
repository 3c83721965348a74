// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"time"
)

// repeat does something now and after every pause, until it is done. It returns the cause if the caller leaves before.
func repeat(ctx context.Context, pause time.Duration, do func() (done bool, err error)) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		switch done, err := do(); {
		case ctx.Err() != nil && !done:
			return context.Cause(ctx) // what has failed has failed because of that
		case done || err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		}
	}
}

// unlessLeft returns what has ended a view, nothing if a person has: that is how views end.
func unlessLeft(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
