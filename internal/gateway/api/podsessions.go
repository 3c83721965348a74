// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Parts of a pod's path that become WebSockets.
const (
	execPart   = "/exec"
	attachPart = "/attach"
)

// commandParameter is the only parameter of the API that may be there more than once: each is a word of a command.
const commandParameter = "command"

// Terminal says which streams of a container a session has.
type Terminal struct {
	Container string `query:"container" maxLength:"63" doc:"Container. The default is the only one, or the one that the pod names"`
	Stdin     bool   `query:"stdin" doc:"Send what you write to the program: channel 0"`
	Stdout    bool   `query:"stdout" doc:"Get what the program writes: channel 1"`
	Stderr    bool   `query:"stderr" doc:"Get what the program writes about errors: channel 2. A terminal does not have it"`
	TTY       bool   `query:"tty" doc:"Give the program a terminal, whose size channel 4 sets"`
}

// Resolve implements huma.Resolver.
func (t *Terminal) Resolve(huma.Context) []error {
	switch {
	case !t.Stdin && !t.Stdout && !t.Stderr:
		return []error{&huma.ErrorDetail{Location: "query.stdout", Message: "or stdin or stderr must be true"}}
	case t.TTY && t.Stderr:
		return []error{&huma.ErrorDetail{Location: "query.stderr", Message: "must not be true with tty: a terminal writes everything to stdout"}}
	}
	return nil
}

// query returns the parameters of the API server.
func (t *Terminal) query() url.Values {
	out := url.Values{}
	setIf(out, "container", t.Container)
	for name, set := range map[string]bool{"stdin": t.Stdin, "stdout": t.Stdout, "stderr": t.Stderr, "tty": t.TTY} {
		if set {
			out.Set(name, "true")
		}
	}
	return out
}

// execInput is the input of running a command.
type execInput struct {
	Target
	Upgrade
	Terminal

	Command []string `query:"command,explode" required:"true" minItems:"1" maxItems:"1024" doc:"The command: one parameter for each word. No shell reads it"`
}

// attachInput is the input of attaching to a container.
type attachInput struct {
	Target
	Upgrade
	Terminal
}

// registerSessions registers the routes of pods that become WebSockets.
func (a *API) registerSessions() {
	about := "A WebSocket with the subprotocol v5.channel.k8s.io or v4.channel.k8s.io of Kubernetes: the first byte of each message is its channel. " +
		"0 is stdin, 1 stdout, 2 stderr, 3 the result as a Status, 4 the size of the terminal. A browser in cluster mode sends its token as the " +
		"subprotocol base64url.bearer.authorization.k8s.io.<token>."
	exec := operation(a.pods, "exec", http.MethodGet, objectPath(a.pods, execPart), "Run a command in a container", upgraded())
	exec.Description = about
	handle(a, exec, func(ctx context.Context, in *execInput) (*huma.StreamResponse, error) {
		query := in.query()
		query[commandParameter] = in.Command
		return a.openSession(ctx, &session{kind: a.pods, of: in.Target, action: "exec", container: in.Container}, &in.Upgrade, query)
	})
	attach := operation(a.pods, "attach", http.MethodGet, objectPath(a.pods, attachPart), "Attach to the program of a container", upgraded())
	attach.Description = about
	handle(a, attach, func(ctx context.Context, in *attachInput) (*huma.StreamResponse, error) {
		return a.openSession(ctx, &session{kind: a.pods, of: in.Target, action: "attach", container: in.Container}, &in.Upgrade, in.query())
	})
}

// openSession opens a session as the caller: first the WebSocket of the API server, whose refusal is an answer, and then the caller's. The
// log has who did it where, and never the command, which may have a secret.
func (a *API) openSession(ctx context.Context, s *session, up *Upgrade, query url.Values) (*huma.StreamResponse, error) {
	var err error
	if s.who, err = access.CallerOf(ctx); err != nil {
		return nil, err
	}
	if err := up.check(); err != nil {
		return nil, err
	}
	if err := a.Streams.Enter(s.who); err != nil {
		return nil, err
	}
	dialing, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	server, err := a.Upstream.Dial(dialing, s.who, a.pods.Path(s.of.namespace, s.of.name, s.action), query, up.offered())
	a.auditSession(ctx, s, err)
	if err != nil {
		a.Streams.Leave(s.who)
		return nil, err
	}
	// The API server asks for get, and newer ones for create as well.
	s.needs = []view.Action{{Verb: verbGet, Subresource: s.action}}
	create := view.Action{Verb: "create", Subresource: s.action}
	if allowed, err := a.Rights.MayDo(dialing, s.who, &a.pods.Kind, create, s.of.namespace, s.of.name); allowed || err != nil {
		s.needs = append(s.needs, create)
	}
	s.subprotocol = server.Subprotocol()
	return a.begin(s, server), nil
}

// isSession reports whether the path is one that becomes a WebSocket, and which.
func isSession(path string) (part string, ok bool) {
	plural, part := objectPart(path)
	switch plural {
	case view.PodsPlural:
		return part, part == execPart || part == attachPart
	case view.MachinesPlural:
		return part, part == consolePart
	default:
		return part, false
	}
}

// objectPart returns the kind of a path, and the part that follows the name of an object in a namespace; empty for other paths.
func objectPart(path string) (plural, part string) {
	elements := strings.Split(path, "/")
	if len(elements) != 6 || elements[1] != "v1" {
		return "", ""
	}
	return elements[2], "/" + elements[5]
}
