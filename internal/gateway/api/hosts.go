// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"io"
	"net/http"

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

	// Console opens a console of the machine of a VirtualMachine, until ctx ends or it is closed.
	Console(ctx context.Context, namespace, name string) (Console, error)

	// Runs returns the runs of a Cluster that are known, the newest first.
	Runs(ctx context.Context, cluster string) ([]view.Run, error)

	// RunLog opens the end of the log of a run, or of the newest one if run is empty: the last lines, all of them if tail is negative, and
	// with follow what comes, until the run ends, the context ends or the reader is closed.
	RunLog(ctx context.Context, cluster, run string, tail int, follow bool) (io.ReadCloser, error)
}

// Console is a console of a machine that is open: what is read is what the machine prints, and what is written is typed. Reading, writing
// and closing can happen at the same time. It ends with io.EOF when the machine is off.
type Console interface {
	io.ReadWriteCloser

	// Resize says how many characters the terminal of the reader has.
	Resize(ctx context.Context, width, height uint16) error
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
	resource, where := k.Plural, " at the cluster scope"
	if action.Subresource != "" {
		resource += "/" + action.Subresource
	}
	if k.Namespaced {
		where = fmt.Sprintf(" in the namespace %q", of.namespace)
	}
	return forbidden("Forbidden", fmt.Sprintf("%s.%s %q is forbidden: User %q cannot %s resource %q in API group %q%s", k.Plural, k.GVK.Group,
		of.name, who.User.GetName(), action.Verb, resource, k.GVK.Group, where)).
		With(view.ParameterKind, k.Plural).With(view.ParameterGroup, k.GVK.Group).With(view.ParameterName, of.name)
}
