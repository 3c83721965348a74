// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/tail"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxLogs is how many containers are read at the same time for one reader.
	maxLogs = 100
	// logsOfStream is how many of them count as a stream.
	logsOfStream = 10
	// settleTime is how long a log that is followed may be quiet until it counts as read to its present end.
	settleTime = 500 * time.Millisecond
	// formatJSON asks for JSON documents.
	formatJSON = "json"
)

// ownerLogsInput is the input of reading the logs of all pods of an object.
type ownerLogsInput struct {
	LogsQuery
	Target

	Format string `query:"format" enum:"text,json" default:"text" doc:"Lines of text that begin with their pod and container, or a LogLine as JSON on each line"`
}

// registerOwnerLogs registers the routes that read the logs of all pods of an object.
func (a *API) registerOwnerLogs() {
	for _, plural := range owners() {
		k, _ := a.Hub.Kind(plural) // the table of kinds has it
		answer := textResponse()
		answer[http.StatusOK].Content[mediaLines] = &huma.MediaType{Schema: &huma.Schema{
			Type: huma.TypeString, Extensions: map[string]any{"contentMediaType": mediaLines, "contentSchema": ref(schemaLine)},
		}}
		op := operation(k, "logs", http.MethodGet, objectPath(k, logsPart), "Read the logs of all its pods", answer)
		op.Description = "What the logs have is merged by time. With follow, later lines come as they are written, and new pods join. A log that " +
			"cannot be read is a notice among the lines. At most 100 containers are read at the same time."
		handle(a, op, func(ctx context.Context, in *ownerLogsInput) (*huma.StreamResponse, error) {
			return a.ownerLogs(ctx, k, in)
		})
	}
}

// ownerLogs streams the logs of the pods of an object, as the API server sends them to the caller.
func (a *API) ownerLogs(ctx context.Context, k *feed.Kind, in *ownerLogsInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if allowed, err := a.Rights.MayDo(ctx, who, &a.pods.Kind, view.ReadLog(), in.namespace, ""); !allowed && err == nil {
		return nil, forbidden("Forbidden", "To read the logs of several pods, you need the right get on pods/log in the namespace "+in.namespace+".")
	}
	pods, err := a.podsOf(ctx, who, k, in.Target)
	if err != nil {
		return nil, err
	}
	first, err := pods.list(ctx)
	if err != nil {
		return nil, err
	}
	if in.Container != "" && len(first) > 0 && !anyHas(first, in.Container) {
		return nil, fieldErrors(&view.FieldError{Location: "query.container", Message: "no pod has a container of this name"})
	}
	media := mediaText
	if in.Format == formatJSON {
		media = mediaLines
	}
	return a.sendText(ctx, &text{
		who: who, needs: pods.needs(k, in.Target), follow: in.Follow, media: media, logs: min(len(a.sources(who, in, first, nil)), maxLogs),
		open: func(ctx context.Context) (io.ReadCloser, error) {
			out, into := io.Pipe()
			go func() {
				sets := make(chan []tail.Source)
				go a.chooseLogs(ctx, pods, first, in, sets)
				err := tail.Merge(ctx, sets, in.sink(into), tail.Options{Follow: in.Follow, Settle: settleTime, Max: maxLogs})
				_ = into.CloseWithError(err) // which never fails
			}()
			return out, nil
		},
	})
}

// sink writes lines in the format of the query.
func (in *ownerLogsInput) sink(to io.Writer) tail.Sink {
	buffered := bufio.NewWriterSize(to, 32<<10)
	if in.Format == formatJSON {
		return &jsonLines{to: buffered, encoder: json.NewEncoder(buffered)}
	}
	return &textLines{to: buffered, timestamps: in.Timestamps}
}

// chooseLogs sends which logs are wanted: those of the first pods, and if they are followed again whenever pods change.
func (a *API) chooseLogs(ctx context.Context, pods *podList, first []podLogs, in *ownerLogsInput, to chan<- []tail.Source) {
	defer close(to)
	there := a.sources(pods.who, in, first, nil)
	old := make(map[string]bool, len(there))
	for i := range there {
		old[there[i].Key] = true
	}
	for wanted := first; ; {
		changes := a.pods.Store.Changed()
		if next, err := pods.list(ctx); err == nil { // otherwise the list stays until it can be read again
			wanted = next
		}
		select {
		case <-ctx.Done():
			return
		case to <- a.sources(pods.who, in, wanted, old):
		}
		if !in.Follow || !pods.await(ctx, changes) {
			return
		}
	}
}

// sources returns the logs of the pods, the newest pods first. Of a container that was not there when the reader came, all lines are asked for: it is opened
// some time after its first one.
func (a *API) sources(who *access.Caller, in *ownerLogsInput, pods []podLogs, old map[string]bool) []tail.Source {
	var out []tail.Source
	for _, pod := range pods {
		for _, container := range pod.containers {
			if in.Container != "" && in.Container != container.name || !container.has(in.Previous) {
				continue
			}
			query, key := in.query(), pod.uid+"/"+container.name+"/"+container.id
			if !old[key] {
				query.Del("tailLines")
				query.Del("sinceSeconds")
			}
			query.Set("container", container.name)
			query.Set("timestamps", "true") // by which lines are merged
			path := a.pods.Path(in.namespace, pod.name, "log")
			out = append(out, tail.Source{
				Key: key, Pod: pod.name, Container: container.name,
				Open: func(ctx context.Context) (io.ReadCloser, error) {
					return a.openLog(ctx, who, access.Call{Method: http.MethodGet, Path: path, Query: query, Accept: "*/*"})
				},
			})
		}
	}
	return out
}

// openLog opens one of several logs. Its error becomes a notice, and so has nothing that only the operator of the gateway may know, such as
// addresses.
func (a *API) openLog(ctx context.Context, who *access.Caller, c access.Call) (io.ReadCloser, error) {
	var out io.ReadCloser
	now, err := a.present(ctx, who)
	if err == nil {
		out, err = a.Upstream.Open(ctx, now, c)
	}
	if err != nil {
		problem := asProblem(err)
		a.noteFailure(ctx, problem, err)
		return nil, problem
	}
	return out, nil
}
