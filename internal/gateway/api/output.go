// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Hosts reaches what runs outside of the cluster, which only the process of the manager can. It is asked after the rights of the caller
// were checked, and trusts that. What it says to a caller is a *view.Problem.
type Hosts interface {
	// Output opens what the machine of a VirtualMachine has written to its console: the last lines, all of them if tail is negative, and
	// with follow what comes, until the machine is off, the context ends or the reader is closed.
	Output(ctx context.Context, namespace, name string, tail int, follow bool) (io.ReadCloser, error)
}

// outputPart is the part of a machine's path that has its output.
const outputPart = "/console/output"

// outputInput is the input of reading the output of a machine.
type outputInput struct {
	Target

	Follow bool `query:"follow" doc:"Go on with new lines until the machine is off or the reader leaves"`
	Tail   int  `query:"tailLines" minimum:"-1" maximum:"1000000" default:"-1" doc:"Only so many last lines. The default is all that the host keeps"`
}

// registerMachines registers the routes that only machines have.
func (a *API) registerMachines() {
	output := operation(a.machines, "output", http.MethodGet, objectPath(a.machines, outputPart), "Read what a machine has written to its console", textResponse())
	output.Description = "It takes the right get on virtualmachines/console. Only the API of the manager's process can answer, because it alone reaches " +
		"hosts: any other answers 501, and an instance that is not the leader 503."
	handle(a, output, a.output)
}

// output answers with what a machine has written to its console.
func (a *API) output(ctx context.Context, in *outputInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	read := view.ReadConsole()
	if err := a.require(ctx, who, a.machines, read, in.Target); err != nil {
		return nil, err
	}
	if a.Hosts == nil {
		return nil, noHosts()
	}
	return a.sendText(ctx, &text{
		who: who, kind: a.machines, right: read, of: in.Target, follow: in.Follow,
		open: func(ctx context.Context) (io.ReadCloser, error) {
			return a.Hosts.Output(ctx, in.namespace, in.name, in.Tail, in.Follow)
		},
	})
}

// noHosts is the problem of a request that only the manager's process can answer.
func noHosts() *view.Problem {
	return view.NewProblem(http.StatusNotImplemented, "NoHosts",
		"This process does not reach the hosts of machines. Ask the API of the manager: windlass manager --gateway-bind-address.")
}

// require returns the problem of a caller who may not do that with the object, in the words of the API server.
func (a *API) require(ctx context.Context, who *access.Caller, k *feed.Kind, action view.Action, of Target) error {
	allowed, err := a.Rights.MayDo(ctx, who, &k.Kind, action, of.namespace, of.name)
	if err != nil || allowed {
		return err
	}
	where := " at the cluster scope"
	if k.Namespaced {
		where = fmt.Sprintf(" in the namespace %q", of.namespace)
	}
	return forbidden("Forbidden", fmt.Sprintf("%s.%s %q is forbidden: User %q cannot %s resource %q in API group %q%s", k.Plural, k.GVK.Group,
		of.name, who.User.GetName(), action.Verb, k.Plural+"/"+action.Subresource, k.GVK.Group, where)).
		With(view.ParameterKind, k.Plural).With(view.ParameterGroup, k.GVK.Group).With(view.ParameterName, of.name)
}
