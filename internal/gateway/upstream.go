// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxAnswer bounds what is read of one answer of the API server, in bytes.
const maxAnswer = 256 << 20

// upstream is the API server, asked with the credentials of the caller. It is the only host that the gateway ever talks to.
type upstream struct {
	base *url.URL
	// anonymous carries no credentials: the caller's are added. own carries the kubeconfig's.
	anonymous, own *http.Client
	userAgent      string
}

func newUpstream(config *rest.Config) (*upstream, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot read the address of the API server: %w", err)
	}
	out := &upstream{base: base, userAgent: config.UserAgent}
	bare := rest.AnonymousClientConfig(config)
	if out.anonymous, err = rest.HTTPClientFor(bare); err != nil {
		return nil, fmt.Errorf("cannot make a client for callers: %w", err)
	}
	if out.own, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("cannot make a client for sessions: %w", err)
	}
	for _, client := range []*http.Client{out.anonymous, out.own} {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return out, nil
}

// call is a request to the API server.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	contentType  string
	accept       string
}

// result is its answer: a good one, because all others are problems.
type result struct {
	status   int
	body     []byte
	warnings []string
}

// do sends the request as the caller. What the API server refuses is a *view.Problem.
func (u *upstream) do(ctx context.Context, who *caller, c call) (*result, error) {
	address := strings.TrimSuffix(u.base.String(), "/") + c.path
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, c.method, address, bytes.NewReader(c.body))
	if err != nil {
		return nil, fmt.Errorf("cannot make a request for the API server: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	if c.accept != "" {
		request.Header.Set("Accept", c.accept)
	}
	if c.contentType != "" {
		request.Header.Set("Content-Type", c.contentType)
	}
	request.Header.Set("User-Agent", u.userAgent)
	client := u.own
	if !who.session {
		client = u.anonymous
		request.Header.Set("Authorization", "Bearer "+who.token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the API server: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the answer of the API server: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, errors.New("cannot read an answer of the API server that long")
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		problem := view.FromStatus(max(response.StatusCode, http.StatusBadRequest), body)
		if after := response.Header.Get("Retry-After"); after != "" {
			return nil, &upstreamRetryError{Problem: problem, after: after}
		}
		return nil, problem
	}
	return &result{status: response.StatusCode, body: body, warnings: response.Header.Values("Warning")}, nil
}

// upstreamRetryError is a refusal after which the API server wants to be asked again.
type upstreamRetryError struct {
	*view.Problem

	after string
}

// GetHeaders implements huma.HeadersError.
func (e *upstreamRetryError) GetHeaders() http.Header { return http.Header{"Retry-After": {e.after}} }

// Unwrap returns the problem.
func (e *upstreamRetryError) Unwrap() error { return e.Problem }
