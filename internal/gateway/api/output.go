// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

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
	a.registerConsole()
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
		who: who, needs: []need{{a.machines, read, in.Target}}, follow: in.Follow,
		open: func(ctx context.Context) (io.ReadCloser, error) {
			return a.Hosts.Output(ctx, in.namespace, in.name, in.Tail, in.Follow)
		},
	})
}
