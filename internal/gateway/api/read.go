// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"sigs.k8s.io/yaml"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// verbGet is the right to read one object.
const verbGet = "get"

// getInput is the input of reading an object.
type getInput struct {
	Conditional
	FieldsInput
	Target

	ManagedFields bool `query:"managedFields" doc:"Keep metadata.managedFields"`
	Consistent    bool `query:"consistent" doc:"Ask the API server and not the cache"`
}

// get answers with an object.
func (a *API) get(ctx context.Context, k *feed.Kind, in *getInput) (*huma.StreamResponse, error) {
	fields, err := in.projection()
	if err != nil {
		return nil, err
	}
	body, aged, err := a.read(ctx, k, in)
	if err != nil {
		return nil, err
	}
	return a.object(k, mediaJSON, fields.Of(body), fields, aged), nil
}

// yaml answers with an object as YAML.
func (a *API) yaml(ctx context.Context, k *feed.Kind, in *getInput) (*huma.StreamResponse, error) {
	fields, err := in.projection()
	if err != nil {
		return nil, err
	}
	body, aged, err := a.read(ctx, k, in)
	if err != nil {
		return nil, err
	}
	if body, err = yaml.JSONToYAML(fields.Of(body)); err != nil {
		return nil, fmt.Errorf("cannot encode an object as YAML: %w", err)
	}
	return a.object(k, mediaYAML, body, fields, aged), nil
}

// object returns an answer with an object of the kind, of which the body has the fields.
func (a *API) object(k *feed.Kind, media string, body []byte, fields *view.Projection, aged age) *huma.StreamResponse {
	out := encoded(media, body)
	out.tag = fields.Tag(out.tag)
	out.age, out.uncompressed = aged, k.Uncompressed
	return a.represent(out)
}

// read returns an object from the store if the caller may get it. For everything else it asks the API server, so that every
// "not found" and "forbidden" is the API server's own.
func (a *API) read(ctx context.Context, k *feed.Kind, in *getInput) ([]byte, age, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, 0, err
	}
	if !k.Uncached && !in.ManagedFields && !in.Consistent && !k.Store.Refused() && !k.Store.Owes() {
		within := in.namespace
		if k.Plural == view.NamespacesPlural {
			within = in.name // as the API server authorizes such a path
		}
		// Asked first, and in doubt the API server decides: how long an answer takes must not tell what there is.
		allowed, _ := a.Rights.May(ctx, who, &k.Kind, within, in.name, verbGet)
		if item, exists := k.Store.Get(in.namespace, in.name); allowed && exists {
			reads.WithLabelValues("cache").Inc()
			return item.JSON, a.age(k), nil
		}
	}
	reads.WithLabelValues("server").Inc()
	answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: k.Path(in.namespace, in.name, "")})
	if err != nil || in.ManagedFields {
		return bodyOf(answer), 0, err
	}
	body, err := view.Strip(answer.Body)
	return body, 0, err
}

func bodyOf(answer *access.Result) []byte {
	if answer == nil {
		return nil
	}
	return answer.Body
}

// mayWrite reports whether a body is worth parsing. Where it says no, the body is sent on unread, so that the API server
// refuses the caller in its own words.
func (a *API) mayWrite(ctx context.Context, k *feed.Kind, namespace, name, verb string) bool {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return false
	}
	allowed, noAnswer := a.Rights.May(ctx, who, &k.Kind, namespace, name, verb)
	return allowed || noAnswer != nil
}

// current returns the object as the API server has it for the caller; nothing if it is not there.
func (a *API) current(ctx context.Context, who *access.Caller, k *feed.Kind, of *Target) ([]byte, error) {
	answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: k.Path(of.namespace, of.name, "")})
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusNotFound {
		return nil, nil
	}
	return bodyOf(answer), err
}
