// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const watchPath = "/v1/watch"

// watchInput is the input of a stream.
type watchInput struct {
	FieldsInput

	Kinds       string `query:"kinds" maxLength:"512" doc:"Kinds, as in the routes, separated by commas. The default is all kinds but events"`
	Namespace   string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is all that the caller may see"`
	Summary     bool   `query:"summary" doc:"Count the objects of every kind by state and reason, also of kinds that are not watched: events of the name summary, at most one a second"`
	LastEventID string `header:"Last-Event-ID" maxLength:"128" doc:"The id of the last event that was received, to resume after it"`
}

// registerWatch registers the route of streams.
func (a *API) registerWatch() {
	handle(a, huma.Operation{
		OperationID: "watch", Method: http.MethodGet, Path: watchPath, Summary: "Watch objects as a stream of events", Tags: []string{"watch"},
		Description: "Events: snapshot (kind, items, more; the last one has done), upsert (kind, object), delete (kind, namespace, name, uid), " +
			"summary (kinds, hidden; whenever counts change, if asked for), resync (forget everything, a snapshot follows), denied (kind, namespaces; null for all), expired (the token is no longer " +
			"accepted, and the stream ends), stale (kinds that may be old since then: the API server does not answer), fresh (they no longer are), beat (the stream lives; every 15 seconds).",
		Responses: answers(map[int]*huma.Response{http.StatusOK: {
			Description: "Events: the data of each is a WatchEvent", Headers: carries(),
			Content: map[string]*huma.MediaType{feed.MediaType: {Schema: &huma.Schema{
				Type: huma.TypeString, Extensions: map[string]any{"contentMediaType": feed.MediaType, "contentSchema": ref(schemaEvent)},
			}}},
		}}),
	}, a.watch)
}

// watch answers with a stream of events.
func (a *API) watch(ctx context.Context, in *watchInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	wanted, err := a.chosen(in.Kinds)
	if err != nil {
		return nil, err
	}
	if in.Namespace != "" && len(validation.IsDNS1123Label(in.Namespace)) > 0 {
		return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "is not the name of a namespace"})
	}
	fields, err := in.projection()
	if err != nil {
		return nil, err
	}
	if err := a.Streams.Enter(who); err != nil {
		return nil, err
	}
	answer := &watcher{a: a, who: who, now: who, wanted: wanted, namespace: in.Namespace, lastID: in.LastEventID, fields: fields}
	if in.Summary {
		answer.counted = a.countable(in.Namespace)
	}
	return &huma.StreamResponse{Body: answer.serve}, nil
}

// chosen returns the kinds of the list in the order of the table; for an empty list all that are not quiet.
func (a *API) chosen(list string) ([]*feed.Kind, error) {
	wanted := map[*feed.Kind]bool{}
	for _, k := range a.Hub.Kinds {
		wanted[k] = list == "" && !k.Quiet && !k.Uncached
	}
	for plural := range strings.SplitSeq(list, ",") {
		if list == "" {
			break
		}
		k, known := a.Hub.Kind(strings.TrimSpace(plural))
		if !known || k.Uncached {
			return nil, fieldErrors(&view.FieldError{Location: "query.kinds", Message: fmt.Sprintf("%q is not a kind that can be watched here", plural), Code: view.FieldNotSupported})
		}
		wanted[k] = true
	}
	var out []*feed.Kind
	for _, k := range a.Hub.Kinds {
		if wanted[k] {
			out = append(out, k)
		}
	}
	return out, nil
}

// watcher is a caller that watches kinds. It implements feed.Permissions.
type watcher struct {
	a *API
	// who has opened the stream, which counts as theirs until it ends.
	who *access.Caller
	// now is the caller as they were reviewed last. Only the question about permissions uses it, of which there is one at a time.
	now       *access.Caller
	wanted    []*feed.Kind
	counted   []*feed.Kind
	namespace string
	lastID    string
	fields    *view.Projection
}

// serve streams events for as long as the request lives.
func (w *watcher) serve(ctx huma.Context) {
	defer w.a.Streams.Leave(w.who)
	request, writer := humago.Unwrap(ctx)
	if request.Method == http.MethodHead { // whose answer has no body, and so would never end
		writer.Header().Set("Content-Type", feed.MediaType)
		return
	}
	// A reader that leaves ends the stream, which is not a failure.
	_ = w.a.Hub.Serve(request.Context(), writer, feed.Subscription{
		Kinds: w.wanted, Counted: w.counted, LastID: w.lastID, Fields: w.fields, Permissions: w,
		Recheck: w.a.Recheck, Silence: w.a.Silence, Heartbeat: w.a.Heartbeat, Stopping: w.a.stopping, Now: w.a.Now,
	})
}

// Valid implements feed.Permissions.
func (w *watcher) Valid(ctx context.Context) (bool, error) {
	now, valid, err := w.a.Identity.Refresh(ctx, w.who)
	if err == nil && valid {
		w.now = now
	}
	return valid, err
}

// Scopes implements feed.Permissions. It returns those of the caller whom Valid has found, whose groups may be others than when the stream began.
func (w *watcher) Scopes(ctx context.Context) (feed.Scopes, error) {
	out := feed.Scopes{}
	var doubt error
	for _, k := range w.asked() {
		within := w.namespace
		if !k.Namespaced {
			within = ""
		}
		verbs := []string{"list"} // which is what it takes to count, as for a summary
		if slices.Contains(w.wanted, k) {
			verbs = append(verbs, "watch")
		}
		var err error
		if out[k.Plural], err = w.a.Rights.ScopeOf(ctx, w.now, &k.Kind, within, verbs...); err != nil {
			doubt = err
		}
	}
	return out, doubt
}

// asked returns the kinds that are watched or counted.
func (w *watcher) asked() []*feed.Kind {
	out := slices.Clone(w.wanted)
	for _, k := range w.counted {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
