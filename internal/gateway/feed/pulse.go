// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// pulse is what is known of the API server itself. A server that hangs closes no watch, so it has to be asked. It is under the lock of the
// journal.
type pulse struct {
	// silent is since when the API server does not answer; zero while it does.
	silent time.Time
	// behind are the kinds whose stores do not hear from the API server, and since when.
	behind map[string]time.Time
	// turned is closed when that changes.
	turned chan struct{}
}

// watchPulse asks the API server for a sign of life until the context ends. One that does not answer within silence is silent.
func (h *Hub) watchPulse(ctx context.Context, config *rest.Config, silence time.Duration) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot create a client for signs of life: %w", err)
	}
	ticker := time.NewTicker(silence / 2)
	defer ticker.Stop()
	heard := h.journal.now()
	for {
		asked, cancel := context.WithTimeout(ctx, silence)
		err := client.RESTClient().Get().AbsPath("/version").Do(asked).Error()
		cancel()
		if answered(err) {
			heard = h.journal.now()
			h.feel(time.Time{})
		} else if ctx.Err() == nil {
			h.feel(heard)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// answered reports whether the API server itself has answered: a refusal is an answer, and that of a proxy in front of it is none.
func answered(err error) bool {
	refusal, refused := errors.AsType[*apierrors.StatusError](err)
	return err == nil || refused && refusal.ErrStatus.Code < http.StatusInternalServerError
}

// feel notes since when the API server is silent, zero for a server that answers, and tells the readers of stores that are behind.
func (h *Hub) feel(silent time.Time) {
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	h.journal.silent = silent
	behind := map[string]time.Time{}
	for _, k := range h.Kinds {
		if since := k.Store.behind(); k.Store.synced && !since.IsZero() && h.journal.now().Sub(since) >= StaleAfter {
			behind[k.Plural] = since
		}
	}
	if maps.Equal(behind, h.journal.behind) {
		return
	}
	h.journal.behind = behind
	close(h.journal.turned)
	h.journal.turned = make(chan struct{})
}

// stale is what a reader is told of kinds that may be old.
type stale struct {
	kinds []string
	since time.Time
}

// staleOf returns which of the kinds may be old, and a channel that is closed when that changes.
func (h *Hub) staleOf(kinds []*Kind) (stale, <-chan struct{}) {
	h.journal.mu.RLock()
	defer h.journal.mu.RUnlock()
	var out stale
	for _, k := range kinds {
		since, behind := h.journal.behind[k.Plural]
		if !behind {
			continue
		}
		out.kinds = append(out.kinds, k.Plural)
		if out.since.IsZero() || since.Before(out.since) {
			out.since = since
		}
	}
	return out, h.journal.turned
}
