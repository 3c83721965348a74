// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"time"
)

// Settling is how much longer than its caller a request may take that makes something on a host.
const Settling = 30 * time.Second

// Settle returns a context for a request that makes something on a host. It has the deadline of ctx, but outlives a cancellation of ctx by up to
// Settling: a host that has such a request often goes on with it, and what it makes then is missed by the removal that follows a cancellation.
// A context that has ended already is returned as it is, so that nothing begins. Call cancel when the request is answered.
func Settle(ctx context.Context) (settling context.Context, cancel context.CancelFunc) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	request, end := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, ok := ctx.Deadline(); ok {
		end() // it is replaced
		request, end = context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	stop := context.AfterFunc(ctx, func() {
		last := time.AfterFunc(Settling, end)
		context.AfterFunc(request, func() { last.Stop() })
	})
	return request, func() {
		stop()
		end()
	}
}
