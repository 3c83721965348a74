// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/net/http/httpguts"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/relay"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxMessage bounds a message of a WebSocket, in bytes.
	maxMessage = 256 << 10
	// messageTimeout is how long a caller may take for one message.
	messageTimeout = 30 * time.Second
	// pongTimeout is how long a caller may take to answer a ping.
	pongTimeout = time.Minute
	// touchInterval is how often it is noted that a caller types.
	touchInterval = time.Second
	// codeUpgrade is the problem of a request that does not open a WebSocket.
	codeUpgrade = "UpgradeRequired"
	// headerSubprotocol has the subprotocols that a client knows.
	headerSubprotocol = "Sec-WebSocket-Protocol"
)

// subprotocols are those of Kubernetes that say which stream a message belongs to, and have a stream for the result. The best first.
func subprotocols() []string { return []string{"v5.channel.k8s.io", "v4.channel.k8s.io"} }

// Upgrade is the input of a route that becomes a WebSocket.
type Upgrade struct{ request *http.Request }

// Resolve implements huma.Resolver.
func (u *Upgrade) Resolve(ctx huma.Context) []error {
	u.request, _ = humago.Unwrap(ctx)
	return nil
}

// check returns the problem of a request that does not open a WebSocket. Afterwards the caller can be told nothing but in its messages.
func (u *Upgrade) check() error {
	allowed := strings.Join(subprotocols(), ", ")
	key, err := base64.StdEncoding.DecodeString(u.request.Header.Get("Sec-WebSocket-Key"))
	switch {
	case u.request.Method != http.MethodGet || u.request.ProtoMajor != 1 || !wsstream.IsWebSocketRequest(u.request):
		return view.NewProblem(http.StatusUpgradeRequired, codeUpgrade,
			"This path is a WebSocket: connect to it by HTTP/1.1, with one of the subprotocols "+allowed+".").With(view.ParameterAllowed, allowed)
	case len(u.offered()) == 0:
		return view.NewProblem(http.StatusUpgradeRequired, codeUpgrade,
			"The WebSocket must have one of the subprotocols "+allowed+".").With(view.ParameterAllowed, allowed)
	case u.request.Header.Get("Sec-WebSocket-Version") != "13" || err != nil || len(key) != 16:
		return view.NewProblem(http.StatusBadRequest, "BadRequest", "The headers of the WebSocket are not those of RFC 6455.")
	}
	return nil
}

// offered returns the known subprotocols that the client offers.
func (u *Upgrade) offered() []string {
	return slices.DeleteFunc(subprotocols(), func(known string) bool {
		return !httpguts.HeaderValuesContainsToken(u.request.Header.Values(headerSubprotocol), known)
	})
}

// session is what is between a caller and what they have opened.
type session struct {
	who *access.Caller
	// of the kind is what was opened, and action is the name of the subresource.
	kind   *feed.Kind
	of     Target
	action string
	// container of a pod.
	container string
	// needs are the rights that end the session when they are taken away.
	needs []view.Action
	// subprotocol is the one that both sides speak.
	subprotocol string
}

// rights are what the session ends with.
func (s *session) rights() []need {
	var out []need
	for _, action := range s.needs {
		out = append(out, need{s.kind, action, s.of})
	}
	return out
}

// upgraded describes the answers of a route that becomes a WebSocket.
func upgraded() map[int]*huma.Response {
	return map[int]*huma.Response{
		http.StatusSwitchingProtocols: {Description: "The connection is a WebSocket", Headers: carries()},
		http.StatusUpgradeRequired:    problem("The request does not open a WebSocket", http.StatusUpgradeRequired, codeUpgrade),
	}
}

// begin returns the answer that becomes a WebSocket. The caller has entered their streams, which this leaves.
func (a *API) begin(s *session, server relay.Server) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer a.Streams.Leave(s.who)
		request, writer := humago.Unwrap(ctx)
		a.relay(writer, request, s, server)
	}}
}

// auditSession logs who opened which session, or why not.
func (a *API) auditSession(ctx context.Context, s *session, err error) {
	answer := &access.Result{Status: http.StatusSwitchingProtocols}
	if err != nil {
		answer = nil
	}
	a.audit(ctx, s.who, s.kind, s.of.namespace, s.of.name, access.Call{Method: http.MethodGet}, answer, err,
		"action", s.action, "container", s.container)
}

// relay answers with a WebSocket, and passes its messages on until one side is gone, a right is taken away, or the process stops.
func (a *API) relay(writer http.ResponseWriter, request *http.Request, s *session, server relay.Server) {
	a.sockets.Add(1)
	defer a.sockets.Done()
	// The origin was compared when the caller was authenticated.
	socket, err := websocket.Accept(writer, request, &websocket.AcceptOptions{
		Subprotocols: []string{s.subprotocol}, InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		_ = server.CloseNow()
		a.Log.Info("Cannot open a WebSocket", "request", instance(request.Context()), "cause", err.Error())
		return
	}
	running, end := context.WithCancelCause(request.Context())
	defer end(nil)
	go func() { end(endOf(a.awaitEnd(running, s.who, s.rights()...))) }()
	ended := relay.Run(running, socket, server, relay.Limits{
		Message: maxMessage, Write: messageTimeout, Heartbeat: a.Heartbeat, Pong: pongTimeout, Sent: a.touch(s.who), Now: a.Now,
	})
	a.Log.Info("Session ended", "user", s.who.User.GetName(), "action", s.action, "kind", s.kind.GVK.Kind, "namespace", s.of.namespace, "name", s.of.name,
		"container", s.container, "code", int(ended.Code), "reason", ended.Reason, "request", instance(request.Context()))
}

// touch returns what keeps the session of a browser from being idle while its user types.
func (a *API) touch(who *access.Caller) func(message []byte) {
	var last time.Time
	return func(message []byte) {
		if len(message) < 2 || message[0] != channelStdin {
			return
		}
		if now := a.Now(); now.Sub(last) >= touchInterval {
			last = now
			a.Identity.Touch(who)
		}
	}
}

// endOf returns what a caller is told when their session has to end.
func endOf(why ending) *relay.End {
	code := websocket.StatusGoingAway
	if why == endExpired || why == endDenied {
		code = websocket.StatusPolicyViolation
	}
	return &relay.End{Code: code, Reason: why.String()}
}
