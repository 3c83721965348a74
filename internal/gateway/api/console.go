// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// consolePart is the part of a machine's path that becomes a WebSocket.
const consolePart = "/console"

// consoleInput is the input of opening the console of a machine.
type consoleInput struct {
	Target
	Upgrade
}

// registerConsole registers the console of a machine.
func (a *API) registerConsole() {
	console := operation(a.machines, "console", http.MethodGet, objectPath(a.machines, consolePart), "Type into the console of a machine", upgraded())
	console.Description = "A WebSocket with the subprotocol v5.channel.k8s.io or v4.channel.k8s.io of Kubernetes: the first byte of each message is its channel. " +
		"0 is what you type, 1 what the machine prints from now on, 3 the result as a Status, 4 the size of your terminal as {\"Width\":80,\"Height\":24}. " +
		"It takes the right create on virtualmachines/console. Only the API of the manager's process can answer: any other answers 501, and an instance " +
		"that is not the leader 503. A serial console has one reader: others get 409 ConsoleHeld."
	handle(a, console, a.console)
}

// console answers with a WebSocket to the console of a machine, which is opened first, so that a refusal is an answer. The log has who did it, and
// never what is typed.
func (a *API) console(ctx context.Context, in *consoleInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	s := &session{
		who: who, kind: a.machines, of: in.Target, action: "console", needs: []view.Action{view.OpenConsole()}, subprotocol: in.offered()[0],
	}
	at, err := a.enterConsole(ctx, s)
	a.auditSession(ctx, s, err)
	if err != nil {
		return nil, err
	}
	return a.begin(s, &terminal{console: at, broke: func(cause error) {
		a.Log.Info("The console of a machine broke", "namespace", in.namespace, "name", in.name, "request", instance(ctx), "cause", cause.Error())
	}}), nil
}

// enterConsole opens the console. It counts as a stream of the caller.
func (a *API) enterConsole(ctx context.Context, s *session) (Console, error) {
	if err := a.require(ctx, s.who, s.kind, s.needs[0], s.of); err != nil {
		return nil, err
	}
	if a.Hosts == nil {
		return nil, noHosts()
	}
	if err := a.Streams.Enter(s.who); err != nil {
		return nil, err
	}
	at, err := a.Hosts.Console(ctx, s.of.namespace, s.of.name)
	if err != nil {
		a.Streams.Leave(s.who)
		return nil, err
	}
	return at, nil
}
