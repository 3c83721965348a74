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

// runLogPart is the part of a cluster's path that has the log of a run.
const runLogPart = "/log"

// runsInput is the input of listing the runs of a cluster.
type runsInput struct{ Target }

type runsOutput struct{ Body view.Runs }

// runLogInput is the input of reading the log of a run.
type runLogInput struct {
	Target

	Run    string `query:"run" maxLength:"63" doc:"The id of the run. The default is the newest one"`
	Follow bool   `query:"follow" doc:"Go on with new lines until the run ends or the reader leaves"`
	Tail   int    `query:"tailLines" minimum:"-1" maximum:"1000000" default:"-1" doc:"Only so many last lines. The default is all that is kept"`
}

// registerRuns registers the routes of the runs of tools.
func (a *API) registerRuns() {
	const takes = "It takes the right get on clusters/log. Only the API of the manager's process can answer, because it alone runs tools: any other " +
		"answers 501, and an instance that is not the leader 503."
	listed := map[int]*huma.Response{http.StatusOK: {Description: "The runs that are kept, and one that is under way", Headers: carries()}}
	runs := operation(a.clusters, "runs", http.MethodGet, objectPath(a.clusters, "/runs"), "List the runs of the tool", listed)
	runs.Description = takes
	handle(a, runs, a.runs)
	log := operation(a.clusters, "log", http.MethodGet, objectPath(a.clusters, runLogPart), "Read the log of a run of the tool", textResponse())
	log.Description = "The end of the log, at most 64 KiB, redacted. " + takes
	handle(a, log, a.runLog)
}

// runs answers with the runs of a cluster.
func (a *API) runs(ctx context.Context, in *runsInput) (*runsOutput, error) {
	if _, err := a.readerOfRuns(ctx, in.Target); err != nil {
		return nil, err
	}
	items, err := a.Hosts.Runs(ctx, in.name)
	if err != nil {
		return nil, err
	}
	return &runsOutput{Body: view.Runs{Items: append([]view.Run{}, items...)}}, nil
}

// runLog answers with the log of a run.
func (a *API) runLog(ctx context.Context, in *runLogInput) (*huma.StreamResponse, error) {
	who, err := a.readerOfRuns(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	return a.sendText(ctx, &text{
		who: who, needs: []need{{a.clusters, view.ReadRuns(), in.Target}}, follow: in.Follow,
		open: func(ctx context.Context) (io.ReadCloser, error) {
			return a.Hosts.RunLog(ctx, in.name, in.Run, in.Tail, in.Follow)
		},
	})
}

// readerOfRuns returns the caller if they may read the runs of the cluster, and this process can.
func (a *API) readerOfRuns(ctx context.Context, of Target) (*access.Caller, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.require(ctx, who, a.clusters, view.ReadRuns(), of); err != nil {
		return nil, err
	}
	if a.Hosts == nil {
		return nil, noHosts()
	}
	return who, nil
}
