// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	mediaText = "text/plain"
	// logsPart is the part of a pod's path that has its log.
	logsPart = "/logs"
	// logTimeout is how long a reader of a log may take for one piece of it.
	logTimeout = 30 * time.Second
)

// evictInput is the input of evicting a pod.
type evictInput struct {
	DryRunInput
	Target
}

// logsInput is the input of reading the log of a container.
type logsInput struct {
	Target

	Container  string `query:"container" maxLength:"63" doc:"Container. The default is the only one, or the one that the pod names"`
	Follow     bool   `query:"follow" doc:"Go on with new lines until the container ends or the reader leaves"`
	Previous   bool   `query:"previous" doc:"The log of the container before its last restart"`
	Timestamps bool   `query:"timestamps" doc:"Begin each line with its time"`
	Since      int    `query:"sinceSeconds" minimum:"0" doc:"Only lines of so many last seconds. The default is all"`
	Tail       int    `query:"tailLines" minimum:"-1" default:"-1" doc:"Only so many last lines. The default is all"`
}

// registerPods registers the routes that only pods have.
func (a *API) registerPods() {
	evicted := map[int]*huma.Response{http.StatusCreated: response("The pod is being evicted", mediaJSON, schemaStatus)}
	evict := operation(a.pods, "evict", http.MethodPost, objectPath(a.pods, "/eviction"), "Evict one", evicted)
	evict.Description = "Unlike deleting, this respects PodDisruptionBudgets: 429 means that one of them does not allow it now."
	handle(a, evict, a.evict)
	text := map[int]*huma.Response{http.StatusOK: {
		Description: "Lines", Content: map[string]*huma.MediaType{mediaText: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	handle(a, operation(a.pods, "logs", http.MethodGet, objectPath(a.pods, logsPart), "Read the log of a container", text), a.logs)
}

// evict evicts a pod as the caller.
func (a *API) evict(ctx context.Context, in *evictInput) (*huma.StreamResponse, error) {
	var options *metav1.DeleteOptions
	if in.DryRun != "" {
		options = &metav1.DeleteOptions{DryRun: []string{in.DryRun}}
	}
	body, err := json.Marshal(evictionOf(in.namespace, in.name, options))
	if err != nil {
		return nil, err
	}
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	c := access.Call{
		Method: http.MethodPost, Path: a.pods.Path(in.namespace, in.name, "eviction"), Query: dryRunQuery(in.DryRun), Body: body,
		ContentType: mediaJSON,
	}
	evicted, known := a.pods.Store.Get(in.namespace, in.name)
	answer, err := a.send(ctx, who, a.pods, in.namespace, in.name, c)
	if err != nil {
		return nil, err
	}
	if in.DryRun == "" && known {
		waiting, cancel := context.WithTimeout(ctx, catchUp)
		defer cancel()
		// A store that does not see it in time owes it.
		_ = a.pods.Store.AwaitDeletion(waiting, evicted)
	}
	return (&reply{status: answer.Status, media: mediaJSON, body: answer.Body, warnings: answer.Warnings}).stream(), nil
}

// isEndless reports whether a request has an answer that may go on for as long as its reader stays.
func isEndless(r *http.Request) bool {
	follow, err := strconv.ParseBool(r.URL.Query().Get("follow"))
	isLog := strings.HasSuffix(r.URL.Path, logsPart) && strings.HasPrefix(r.URL.Path, "/v1/"+view.PodsPlural+"/")
	return r.URL.Path == watchPath || isLog && err == nil && follow
}

// logs streams the log of a container, as the API server sends it to the caller.
func (a *API) logs(ctx context.Context, in *logsInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if !a.Streams.Enter(who) {
		return nil, access.TooMany(time.Second)
	}
	reading, stop := context.WithCancel(ctx)
	lines, err := a.Upstream.Open(reading, who, access.Call{
		Method: http.MethodGet, Path: a.pods.Path(in.namespace, in.name, "log"), Query: in.query(), Accept: "*/*",
	})
	if err != nil {
		stop()
		a.Streams.Leave(who)
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer a.Streams.Leave(who)
		defer stop()
		defer func() { _ = lines.Close() }()
		request, writer := humago.Unwrap(ctx)
		writer.Header().Set("Content-Type", mediaText+"; charset=utf-8")
		writer.Header().Set("X-Accel-Buffering", "no")
		writer.WriteHeader(http.StatusOK)
		if request.Method == http.MethodHead {
			return
		}
		if in.Follow {
			// The deadline of a request would end the connection.
			_ = http.NewResponseController(writer).SetReadDeadline(time.Time{})
			go a.endLogs(reading, stop, who, in.Target)
		}
		a.passOn(writer, lines)
	}}, nil
}

// query returns the parameters of the API server.
func (in *logsInput) query() url.Values {
	query := url.Values{}
	setIf(query, "container", in.Container)
	for name, set := range map[string]bool{"follow": in.Follow, "previous": in.Previous, "timestamps": in.Timestamps} {
		if set {
			query.Set(name, "true")
		}
	}
	if in.Since > 0 {
		query.Set("sinceSeconds", strconv.Itoa(in.Since))
	}
	if in.Tail >= 0 {
		query.Set("tailLines", strconv.Itoa(in.Tail))
	}
	return query
}

// passOn sends lines as they come. A slow reader holds up only the connection that the lines come from.
func (a *API) passOn(to http.ResponseWriter, lines io.Reader) {
	control := http.NewResponseController(to)
	buffer := make([]byte, 32<<10)
	for {
		n, err := lines.Read(buffer)
		if n > 0 {
			_ = control.SetWriteDeadline(a.Now().Add(logTimeout))
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
			if control.Flush() != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// endLogs ends a log that is followed when its reader may no longer read it, or the process stops. Until the API server says so,
// the log goes on.
func (a *API) endLogs(ctx context.Context, stop func(), who *access.Caller, of Target) {
	defer stop()
	recheck := time.NewTicker(a.Recheck)
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.stopping:
			return
		case <-recheck.C:
		}
		if valid, err := a.Identity.Valid(ctx, who); err == nil && !valid {
			return
		}
		read := view.Action{Verb: "get", Subresource: "log"}
		if allowed, err := a.Rights.MayDo(ctx, who, &a.pods.Kind, read, of.namespace, of.name); err == nil && !allowed {
			return
		}
	}
}
