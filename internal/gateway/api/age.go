// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
)

// age is how old an answer can be. Its zero value is an answer that is not old.
type age time.Duration

// age returns how old the answers of the store of the kind can be; nothing for answers of the API server itself.
func (a *API) age(from *feed.Kind) age {
	if from == nil {
		return 0
	}
	behind := from.Store.Behind(a.Now())
	if behind < feed.StaleAfter {
		return 0
	}
	return age(behind)
}

// write adds the headers of RFC 9111 that tell how old the answer is.
func (g age) write(ctx huma.Context) {
	if g == 0 {
		return
	}
	ctx.SetHeader("Age", strconv.Itoa(int(time.Duration(g).Seconds())))
	ctx.AppendHeader("Warning", `110 windlass "Response is Stale: the API server cannot be watched at present"`)
}
