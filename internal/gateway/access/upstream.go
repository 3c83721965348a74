// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxAnswer bounds what is read of one answer of the API server, in bytes: no object is as large.
const maxAnswer = 16 << 20

// ErrTooLong is the error of an answer that is longer than what may be read of it.
var ErrTooLong = errors.New("cannot read the answer of the API server: it is too long")

// Upstream is the API server, which is asked with the credentials of the caller. It is the only host that the gateway ever
// talks to.
type Upstream struct {
	base *url.URL
	// anonymous has no credentials: the caller's are added. own has the kubeconfig's.
	anonymous, own *http.Client
	// anonymousText and ownText have a connection for each request. HTTP/2 would keep up to 4 MiB of every text that its reader does not take.
	anonymousText, ownText *http.Client
	userAgent              string
}

// NewUpstream returns the API server of the configuration.
func NewUpstream(config *rest.Config) (*Upstream, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot read the address of the API server: %w", err)
	}
	out := &Upstream{base: base, userAgent: config.UserAgent}
	bare := rest.AnonymousClientConfig(config)
	if out.anonymous, err = rest.HTTPClientFor(bare); err != nil {
		return nil, fmt.Errorf("cannot create a client for callers: %w", err)
	}
	if out.own, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("cannot create a client for sessions: %w", err)
	}
	for from, into := range map[*rest.Config]**http.Client{bare: &out.anonymousText, config: &out.ownText} {
		single := rest.CopyConfig(from)
		single.NextProtos = []string{"http/1.1"}
		if *into, err = rest.HTTPClientFor(single); err != nil {
			return nil, fmt.Errorf("cannot create a client for texts: %w", err)
		}
	}
	for _, client := range []**http.Client{&out.anonymous, &out.own, &out.anonymousText, &out.ownText} {
		mine := **client // without TLS it is that of the whole process
		mine.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		*client = &mine
	}
	return out, nil
}

// Call is a request to the API server.
type Call struct {
	// Method and Path of the request, and its Query.
	Method, Path string
	Query        url.Values
	// Body and its ContentType.
	Body        []byte
	ContentType string
	// Accept is the media type of the answer. Default: JSON.
	Accept string
	// Most bounds the answer, in bytes: a longer one is ErrTooLong. Default: maxAnswer.
	Most int
}

// Result is the answer to a Call that the API server accepted.
type Result struct {
	// Status is the code of the answer.
	Status int
	// Body of the answer.
	Body []byte
	// Warnings are the values of its Warning headers.
	Warnings []string
}

// Do sends the request as the caller. A refusal of the API server is a *view.Problem.
func (u *Upstream) Do(ctx context.Context, who *Caller, c Call) (*Result, error) {
	response, err := u.send(ctx, who, c, u.anonymous, u.own)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := whole(response.Body, cmp.Or(c.Most, maxAnswer))
	if err != nil {
		return nil, err
	}
	return &Result{Status: response.StatusCode, Body: body, Warnings: response.Header.Values("Warning")}, nil
}

// Open sends the request as the caller and returns the body of the answer, which the context ends. The caller closes it.
func (u *Upstream) Open(ctx context.Context, who *Caller, c Call) (io.ReadCloser, error) {
	response, err := u.send(ctx, who, c, u.anonymousText, u.ownText)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// send returns the answer to a request that the API server accepted. It is sent with one of the clients.
func (u *Upstream) send(ctx context.Context, who *Caller, c Call, anonymous, own *http.Client) (*http.Response, error) {
	address, err := u.address(c.Path, c.Query)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, address, bytes.NewReader(c.Body))
	if err != nil {
		return nil, fmt.Errorf("cannot create a request to the API server: %w", err)
	}
	request.Header.Set("Accept", cmp.Or(c.Accept, "application/json"))
	if c.ContentType != "" {
		request.Header.Set("Content-Type", c.ContentType)
	}
	request.Header.Set("User-Agent", u.userAgent)
	response, err := authorize(who, request.Header, anonymous, own).Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the API server: %w", err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	return nil, refusal(response)
}

// address returns the URL of a path of the API server. Names come from objects, too, whose writers choose those of owners and claims: the
// API server takes an escaped slash for a slash, so that such a name would lead the caller to a subresource or a proxy.
func (u *Upstream) address(path string, query url.Values) (string, error) {
	leadsAway := slices.ContainsFunc(strings.Split(path, "/"), func(element string) bool {
		return element == "." || element == ".." || strings.Contains(element, "%2F") || strings.Contains(element, "%25")
	})
	if leadsAway {
		return "", view.NewProblem(http.StatusNotFound, view.CodeOf(http.StatusNotFound), "No object has a name that is a part of a path.")
	}
	out := strings.TrimSuffix(u.base.String(), "/") + path
	if len(query) > 0 {
		out += "?" + query.Encode()
	}
	return out, nil
}

// authorize returns the client whose requests are the caller's, and adds their token to the header if that client needs it.
func authorize(who *Caller, header http.Header, anonymous, own *http.Client) *http.Client {
	if who.Session {
		return own
	}
	header.Set("Authorization", "Bearer "+who.token)
	return anonymous
}

// refusal returns the problem that an answer is, and closes it.
func refusal(response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	body, err := whole(response.Body, maxAnswer)
	if err != nil {
		return err
	}
	problem := view.FromStatus(max(response.StatusCode, http.StatusBadRequest), body)
	problem.RetryAfter = response.Header.Get("Retry-After")
	return problem
}

// whole reads all of an answer, which has at most so many bytes.
func whole(from io.Reader, most int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the answer of the API server: %w", err)
	}
	if len(body) > most {
		return nil, fmt.Errorf("%w, more than %d bytes", ErrTooLong, most)
	}
	return body, nil
}
