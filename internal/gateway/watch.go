// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const watchPath = "/v1/watch"

// watchInput is what is followed.
type watchInput struct {
	Kinds       string `query:"kinds" maxLength:"512" doc:"Kinds, as the routes call them, separated by commas; default all"`
	Namespace   string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace; without it all that the caller may see"`
	LastEventID string `header:"Last-Event-ID" maxLength:"128" doc:"The id of the last event that was seen, to go on from there"`
}

// watch answers with a stream of events.
func (g *Gateway) watch(ctx context.Context, in *watchInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	wanted, err := g.chosen(in.Kinds)
	if err != nil {
		return nil, err
	}
	if in.Namespace != "" && len(validation.IsDNS1123Label(in.Namespace)) > 0 {
		return nil, fieldErrors(&view.FieldError{Location: "query.ns", Message: "is no name of a namespace"})
	}
	if !g.streams.Enter(who) {
		return nil, access.TooMany(time.Second)
	}
	answer := &watcher{g: g, who: who, wanted: wanted, namespace: in.Namespace, lastID: in.LastEventID}
	return &huma.StreamResponse{Body: answer.serve}, nil
}

// chosen returns the kinds of the list in the order of the table; all of them for an empty list.
func (g *Gateway) chosen(list string) ([]*feed.Kind, error) {
	if list == "" {
		return g.hub.Kinds, nil
	}
	wanted := map[*feed.Kind]bool{}
	for plural := range strings.SplitSeq(list, ",") {
		k, known := g.hub.Kind(strings.TrimSpace(plural))
		if !known {
			return nil, fieldErrors(&view.FieldError{Location: "query.kinds", Message: fmt.Sprintf("%q is no kind", plural)})
		}
		wanted[k] = true
	}
	var out []*feed.Kind
	for _, k := range g.hub.Kinds {
		if wanted[k] {
			out = append(out, k)
		}
	}
	return out, nil
}

// watcher is a caller who follows kinds. It implements feed.Permissions.
type watcher struct {
	g         *Gateway
	who       *access.Caller
	wanted    []*feed.Kind
	namespace string
	lastID    string
}

// serve streams events for as long as the request lives.
func (w *watcher) serve(ctx huma.Context) {
	defer w.g.streams.Leave(w.who)
	request, writer := humago.Unwrap(ctx)
	// A reader who has left ends the stream, which is not a failure.
	_ = w.g.hub.Serve(request.Context(), writer, feed.Subscription{
		Kinds: w.wanted, LastID: w.lastID, Permissions: w,
		Recheck: w.g.options.RightsTTL, Heartbeat: w.g.options.Heartbeat, Stopping: w.g.stopping, Now: w.g.options.Now,
	})
}

// Valid implements feed.Permissions.
func (w *watcher) Valid(ctx context.Context) (bool, error) { return w.g.identity.Valid(ctx, w.who) }

// Scopes implements feed.Permissions.
func (w *watcher) Scopes(ctx context.Context) (feed.Scopes, error) {
	out := feed.Scopes{}
	var doubt error
	for _, k := range w.wanted {
		within := w.namespace
		if !k.Namespaced {
			within = ""
		}
		var err error
		if out[k.Plural], err = w.g.rights.ScopeOf(ctx, w.who, &k.Kind, within, "list", "watch"); err != nil {
			doubt = err
		}
	}
	return out, doubt
}
