// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"time"
)

// rereadAfter is how long is waited before something is read again that could not be read.
const rereadAfter = 2 * time.Second

// repeat does something now and after every pause, until it is done. It returns the cause if the caller leaves before.
func repeat(ctx context.Context, lasting time.Duration, do func() (done bool, err error)) error {
	for {
		switch done, err := do(); {
		case ctx.Err() != nil && !done:
			return context.Cause(ctx) // what has failed has failed because of that
		case done || err != nil:
			return err
		}
		if !pause(ctx, lasting) {
			return context.Cause(ctx)
		}
	}
}

// persist reads until nothing fails, and says meanwhile what does. It returns the cause if the caller leaves before.
func (p *plugin) persist(ctx context.Context, lost func(because string), read func() error) error {
	return repeat(ctx, rereadAfter, func() (done bool, err error) {
		if err = read(); err != nil && ctx.Err() == nil { // a person who leaves is not told that something has failed
			lost(p.explain(err))
		}
		return err == nil, nil
	})
}

// pause waits, and reports whether the caller is still there.
func pause(ctx context.Context, lasting time.Duration) bool {
	timer := time.NewTimer(lasting)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// unlessLeft returns what has ended a view, nothing if a person has: that is how views end.
func unlessLeft(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
