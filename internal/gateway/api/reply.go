// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/danielgtaylor/huma/v2"
)

// reply is an encoded answer to a request that changes something. It is never compressed, because it has what the caller sent
// beside what others wrote.
type reply struct {
	status   int
	media    string
	body     []byte
	warnings []string
}

// stream returns the reply as huma writes it.
func (r *reply) stream() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", r.media)
		for _, warning := range r.warnings {
			ctx.AppendHeader("Warning", warning)
		}
		ctx.SetStatus(r.status)
		// A caller that has left cannot be answered.
		_, _ = ctx.BodyWriter().Write(r.body)
	}}
}
