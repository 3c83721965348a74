// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// logsPart is the part of a pod's path that has its log.
const logsPart = "/logs"

// evictInput is the input of evicting a pod.
type evictInput struct {
	DryRunInput
	PinInput
	Target
}

// logsInput is the input of reading the log of a container.
type logsInput struct {
	LogsQuery
	Target
}

// registerPods registers the routes that only pods have.
func (a *API) registerPods() {
	evicted := map[int]*huma.Response{http.StatusCreated: response("The pod is being evicted", mediaJSON, schemaStatus)}
	evict := operation(a.pods, "evict", http.MethodPost, objectPath(a.pods, "/eviction"), "Evict one", evicted)
	evict.Description = "Unlike deleting, this respects PodDisruptionBudgets: 429 means that one of them does not allow it now."
	handle(a, evict, a.evict)
	handle(a, operation(a.pods, "logs", http.MethodGet, objectPath(a.pods, logsPart), "Read the log of a container", textResponse()), a.logs)
	a.registerSessions()
	a.registerDebug()
}

// evict evicts a pod as the caller.
func (a *API) evict(ctx context.Context, in *evictInput) (*huma.StreamResponse, error) {
	options := &metav1.DeleteOptions{}
	if in.DryRun != "" {
		options.DryRun = []string{in.DryRun}
	}
	if in.UID != "" {
		options.Preconditions = metav1.NewUIDPreconditions(in.UID)
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
	if in.UID != "" { // the API server would try for ten seconds to evict a pod with another UID
		if now, err := a.current(ctx, who, a.pods, &in.Target); err == nil && now != nil && string(uidOf(now)) != in.UID {
			return nil, wasReplaced(string(uidOf(now)))
		}
	}
	answer, err := a.send(ctx, who, a.pods, in.namespace, in.name, c)
	if err != nil {
		return nil, a.unlessReplaced(ctx, a.pods, &in.Target, in.UID, err)
	}
	if in.DryRun == "" && known {
		waiting, cancel := context.WithTimeout(ctx, catchUp)
		defer cancel()
		// A store that does not see it in time owes it.
		_ = a.pods.Store.AwaitDeletion(waiting, evicted)
	}
	return (&reply{status: answer.Status, media: mediaJSON, body: answer.Body, warnings: answer.Warnings}).stream(), nil
}

// logs streams the log of a container, as the API server sends it to the caller.
func (a *API) logs(ctx context.Context, in *logsInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return a.sendText(ctx, &text{
		who: who, needs: []need{{a.pods, view.ReadLog(), in.Target}}, follow: in.Follow,
		open: func(ctx context.Context) (io.ReadCloser, error) {
			return a.Upstream.Open(ctx, who, access.Call{
				Method: http.MethodGet, Path: a.pods.Path(in.namespace, in.name, "log"), Query: in.query(), Accept: "*/*",
			})
		},
	})
}
