// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Transport returns a wrapper for transports that sends a request which may change something only while the fence is open, and breaks
// it off when the lease runs out: a request that waits in a queue of the API server must not be carried out beside the successor's.
func (f *Fence) Transport(next http.RoundTripper) http.RoundTripper {
	if f == nil {
		return next
	}
	return &transport{fence: f, next: next}
}

type transport struct {
	fence *Fence
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return t.next.RoundTrip(request)
	}
	left, err := t.fence.left()
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // as every transport has to
		}
		return nil, fmt.Errorf("cannot send %s %s: %w", request.Method, request.URL.Path, err)
	}
	ctx, cancel := context.WithTimeout(request.Context(), left)
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, cancel: cancel}
	return response, nil
}

// WrappedRoundTripper returns the transport below, for client-go, which looks through wrappers.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// body ends the time limit of its request when it has been read.
type body struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
