// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"time"
)

// lookLimit is how long one machine can take within a call about all of them.
const lookLimit = 10 * time.Second

// Briefly calls look for one of many machines, and reports whether only its limit has ended it: a machine that hangs must not keep the others from being
// seen.
func Briefly[R any](ctx context.Context, look func(context.Context) (R, error)) (out R, late bool, err error) {
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	out, err = look(limited)
	return out, err != nil && limited.Err() != nil && ctx.Err() == nil, err
}
