// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"runtime/debug"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
)

const (
	// maxNoBody bounds a body on a path that takes none, in bytes: there are clients that send an empty object.
	maxNoBody = 4 << 10
	// bodiesOfCaller and bodiesOfAll bound the bodies that are held at the same time, in bytes.
	bodiesOfCaller, bodiesOfAll = 4 * maxBody, 16 * maxBody
)

// bodyLimits returns how large bodies may be, by the pattern of their route. Routes that take none are not among them.
func bodyLimits(described *huma.OpenAPI) map[string]int {
	out := map[string]int{}
	for path, item := range described.Paths {
		for method, op := range map[string]*huma.Operation{
			http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
		} {
			if op != nil && op.RequestBody != nil {
				out[method+" "+path] = int(min(cmp.Or(op.MaxBodyBytes, maxBody), maxBody))
			}
		}
	}
	return out
}

// heldReader is a body that counts for a share as it arrives.
type heldReader struct {
	io.Reader

	held *access.Share
}

// Read implements io.Reader.
func (r *heldReader) Read(into []byte) (int, error) {
	n, err := r.Reader.Read(into)
	if full := r.held.Take(n); full != nil {
		return n, full
	}
	return n, err
}

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
