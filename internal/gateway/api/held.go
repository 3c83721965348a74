// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"runtime/debug"

	"github.com/windlass-operator/windlass/internal/gateway/access"
)

// roomForLists returns what may be kept of lists of the API server until their answers are written: two of the largest, or a third of the memory that
// the process may have. A list is several times as large while it is read.
func roomForLists() *access.Budget {
	all := int(min(2*maxList, debug.SetMemoryLimit(-1)/3))
	return access.NewBudget(all/2, all)
}

type heldKey struct{}

// holding returns a context whose lists count for the caller until they are released.
func (a *API) holding(ctx context.Context, who *access.Caller) (held context.Context, release func()) {
	share := a.kept.Share(who)
	return context.WithValue(ctx, heldKey{}, share), share.Release
}

// heldOf returns what the request of the context holds of lists; nil for a context that is of none.
func heldOf(ctx context.Context) *access.Share {
	share, _ := ctx.Value(heldKey{}).(*access.Share)
	return share
}
