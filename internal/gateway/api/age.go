// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

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
func (g age) write(set, add func(name, value string)) {
	if g == 0 {
		return
	}
	set(headerAge, strconv.Itoa(int(time.Duration(g).Seconds())))
	add(headerWarning, `110 windlass "Response is Stale: the API server cannot be watched at present"`)
}

type agesKey struct{}

// ages are those of the stores that an answer is made from.
type ages struct {
	mu     sync.Mutex
	oldest age
	// answer are the headers of the answer.
	answer http.Header
}

// aging returns a context of a request whose answer is made from several stores, and says in these headers how old the oldest of them is.
func aging(ctx context.Context, answer http.Header) context.Context {
	return context.WithValue(ctx, agesKey{}, &ages{answer: answer})
}

// madeFrom notes that the answer to the request of the context is made from the store of the kind.
func (a *API) madeFrom(ctx context.Context, from *feed.Kind) {
	of, ok := ctx.Value(agesKey{}).(*ages)
	if !ok {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.oldest = max(of.oldest, a.age(from))
}

// tellAge writes into the answer to the request of the context how old it is.
func tellAge(ctx context.Context) {
	of, ok := ctx.Value(agesKey{}).(*ages)
	if !ok {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.oldest.write(of.answer.Set, of.answer.Add)
}
