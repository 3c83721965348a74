// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// registerReads registers the routes that read objects of the kind.
func (a *API) registerReads(k *feed.Kind) {
	list := operation(k, "list", http.MethodGet, "/v1/"+k.Plural, "List "+k.Plural, tagged(response(k.About, mediaJSON, schemaList(k))))
	if k.Namespaced {
		handle(a, list, func(ctx context.Context, in *namespacedList) (*huma.StreamResponse, error) {
			return a.list(ctx, k, in.Namespace, &in.ListInput)
		})
	} else {
		handle(a, list, func(ctx context.Context, in *ListInput) (*huma.StreamResponse, error) {
			return a.list(ctx, k, "", in)
		})
	}
	object := tagged(response(k.GVK.Kind, mediaJSON, k.GVK.Kind))
	handle(a, operation(k, "get", http.MethodGet, objectPath(k, ""), "Read one", object),
		func(ctx context.Context, in *getInput) (*huma.StreamResponse, error) { return a.get(ctx, k, in) })
	text := tagged(&huma.Response{
		Description: k.GVK.Kind, Content: map[string]*huma.MediaType{mediaYAML: {Schema: &huma.Schema{Type: huma.TypeString}}},
	})
	handle(a, operation(k, "yaml", http.MethodGet, objectPath(k, "/yaml"), "Read one as YAML", text),
		func(ctx context.Context, in *getInput) (*huma.StreamResponse, error) { return a.yaml(ctx, k, in) })
	if k.Plural == view.EventsPlural {
		return // there are no events about events
	}
	a.registerDescribe(k)
	events := tagged(response("Events, newest first", mediaJSON, schemaList(a.eventKind)))
	handle(a, operation(k, "events", http.MethodGet, objectPath(k, "/events"), "List the events about one", events),
		func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
			return a.events(ctx, k, in)
		})
}

// registerWrites registers the routes that write objects of the kind.
func (a *API) registerWrites(k *feed.Kind) {
	if k.Access == view.AccessFull {
		a.registerCreates(k)
	}
	if k.Access != view.AccessRead {
		gone := map[int]*huma.Response{
			http.StatusOK: deleted(k, "The object is deleted"), http.StatusAccepted: deleted(k, "The object is being deleted"),
		}
		handle(a, operation(k, "delete", http.MethodDelete, objectPath(k, ""), "Delete one", gone),
			func(ctx context.Context, in *deleteInput) (*huma.StreamResponse, error) {
				return a.delete(ctx, k, in)
			})
	}
	if k.Size != "" {
		scaled := map[int]*huma.Response{http.StatusOK: response("The Scale after the change", mediaJSON, schemaScale)}
		handle(a, operation(k, "scale", http.MethodPatch, objectPath(k, "/scale"), "Set the number of replicas", scaled),
			func(ctx context.Context, in *scaleInput) (*huma.StreamResponse, error) {
				return a.scale(ctx, k, in)
			})
	}
}

// deleted describes the answer to a deletion: the object, or for kinds that the API server deletes at once a Status.
func deleted(k *feed.Kind, about string) *huma.Response {
	out := response(about, mediaJSON, schemaStatus)
	out.Content[mediaJSON].Schema = &huma.Schema{
		OneOf: []*huma.Schema{ref(k.GVK.Kind), ref(schemaStatus)}, Discriminator: &huma.Discriminator{PropertyName: fieldKind},
	}
	return out
}

// registerCreates registers the routes that create and change objects of the kind.
func (a *API) registerCreates(k *feed.Kind) {
	created := map[int]*huma.Response{
		http.StatusCreated: response("The created object", mediaJSON, k.GVK.Kind),
		http.StatusOK:      response("The object that would be created", mediaJSON, k.GVK.Kind),
	}
	post := takesBody(k, operation(k, "create", http.MethodPost, "/v1/"+k.Plural, "Create one", created), mediaJSON, mediaYAML)
	if k.Namespaced {
		handle(a, post, func(ctx context.Context, in *namespacedCreate) (*huma.StreamResponse, error) {
			return a.create(ctx, k, in.Namespace, &in.CreateInput)
		})
	} else {
		handle(a, post, func(ctx context.Context, in *CreateInput) (*huma.StreamResponse, error) {
			return a.create(ctx, k, "", in)
		})
	}
	applied := map[int]*huma.Response{
		http.StatusOK:      response("The object after the change", mediaJSON, k.GVK.Kind),
		http.StatusCreated: response("The created object", mediaJSON, k.GVK.Kind),
	}
	put := operation(k, "apply", http.MethodPut, objectPath(k, ""), "Apply one: create it, or change the fields in the body; or replace it", applied)
	handle(a, takesBody(k, put, mediaJSON, mediaYAML),
		func(ctx context.Context, in *applyInput) (*huma.StreamResponse, error) {
			c, answer, err := a.put(ctx, k, in)
			return a.written(ctx, k, in.namespace, in.name, c, answer, err)
		})
	a.registerPatch(k)
	a.registerDiff(k)
}
