// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/danielgtaylor/huma/v2"
)

// reply is an answer that is ready to be written.
type reply struct {
	status   int
	media    string
	body     []byte
	warnings []string
}

// stream turns a reply into what huma writes.
func (r *reply) stream() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", r.media)
		for _, warning := range r.warnings {
			ctx.AppendHeader("Warning", warning)
		}
		ctx.SetStatus(r.status)
		// Who no longer listens cannot be told so.
		_, _ = ctx.BodyWriter().Write(r.body)
	}}
}
