// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	socketauth "k8s.io/apiserver/pkg/authentication/request/websocket"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Dial opens a WebSocket as the caller, with one of the subprotocols. The caller closes it. A refusal of the API server is a
// *view.Problem. No error has the query, whose values can be secrets.
func (u *Upstream) Dial(ctx context.Context, who *Caller, path string, query url.Values, subprotocols []string) (*websocket.Conn, error) {
	address, err := u.address(path, query)
	if err != nil {
		return nil, err
	}
	header := http.Header{"User-Agent": {u.userAgent}}
	client := authorize(who, header, u.anonymous, u.own)
	transport := client.Transport
	if transport == nil { // for a client without anything of its own
		transport = http.DefaultTransport
	}
	socket, _, err := websocket.Dial(ctx, //nolint:bodyclose // because the body is the connection of the WebSocket
		address, &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: upgradesOnly{transport}, CheckRedirect: client.CheckRedirect},
			HTTPHeader: header, Subprotocols: subprotocols,
		})
	if err == nil && socket.Subprotocol() == "" {
		_ = socket.CloseNow()
		return nil, errors.New("cannot open a WebSocket: the API server knows none of the subprotocols")
	}
	if problem, ok := errors.AsType[*view.Problem](err); ok {
		return nil, problem
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open a WebSocket to the API server: %w", err)
	}
	return socket, nil
}

// upgradesOnly makes an error of every answer that does not open a WebSocket. The client of WebSockets would cut its body.
type upgradesOnly struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t upgradesOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode == http.StatusSwitchingProtocols {
		return response, err
	}
	return nil, refusal(response)
}

// socketToken takes the bearer token out of the subprotocols of a request for a WebSocket, where browsers have to put it: they cannot set a
// header. Nothing after this sees it.
func socketToken(r *http.Request) (token string, ok bool, err error) {
	taken := authenticator.TokenFunc(func(_ context.Context, sent string) (*authenticator.Response, bool, error) {
		token = strings.TrimSpace(sent) // a file has the end of its line
		return &authenticator.Response{}, true, nil
	})
	_, ok, err = socketauth.NewProtocolAuthenticator(taken).AuthenticateRequest(r)
	return token, ok, err
}
