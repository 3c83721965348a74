// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// applyInput is the input of applying an object.
type applyInput struct {
	CreateInput
	Target

	Force   bool `query:"force" doc:"Take over fields that other managers own"`
	Replace bool `query:"replace" doc:"Replace the whole object instead of applying the fields of the body. The body needs metadata.resourceVersion"`
}

// apply applies an object by server-side apply.
func (a *API) apply(ctx context.Context, k *feed.Kind, in *applyInput) (access.Call, *access.Result, error) {
	c := access.Call{}
	who, err := access.CallerOf(ctx)
	if err != nil {
		return c, nil, err
	}
	media, err := mediaOf(in.ContentType)
	if err != nil {
		return c, nil, err
	}
	if a.mayWrite(ctx, k, in.namespace, in.name, "patch") {
		if _, err := in.fits(k, media); err != nil {
			return c, nil, err
		}
	}
	c = access.Call{
		Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, ""), Query: in.parameters(), Body: in.RawBody,
		ContentType: string(types.ApplyYAMLPatchType), // JSON is YAML
	}
	if in.Force {
		c.Query.Set("force", "true")
	}
	answer, err := a.Upstream.Do(ctx, who, c)
	if conflictsOnlyWith(c.Query.Get("fieldManager"), err) {
		answer, err = a.takeOver(ctx, who, c, media, err)
	}
	a.audit(ctx, who, k, in.namespace, in.name, c, answer, err)
	return c, answer, err
}

// fits returns what the gateway reads of a body, whose name has to be that of the path.
func (in *applyInput) fits(k *feed.Kind, media string) (*sketch, error) {
	body, err := readSketch(k, media, in.RawBody)
	if err != nil {
		return nil, err
	}
	if cmp.Or(body.Metadata.Name, in.name) != in.name || cmp.Or(body.Metadata.Namespace, in.namespace) != in.namespace {
		return nil, fieldErrors(&view.FieldError{Location: "body.metadata", Message: "must match the name and namespace in the path"})
	}
	return body, nil
}

// conflictsOnlyWith reports whether an apply was refused because of fields that the same manager owns. The API server tells
// the applies of a manager from its creates and scales, so that a caller who creates and then applies conflicts with
// themselves.
func conflictsOnlyWith(manager string, err error) bool {
	problem, refused := errors.AsType[*view.Problem](err)
	if !refused || problem.Status != http.StatusConflict {
		return false
	}
	for _, conflict := range problem.Errors {
		if !strings.HasPrefix(conflict.Message, fmt.Sprintf("conflict with %q", manager)) {
			return false
		}
	}
	return len(problem.Errors) > 0
}

// takeOver moves the fields of a body from a manager's creates to its applies. It forces an apply of a version of the object
// for which it has seen that no other manager is in conflict, so that it takes nothing from anybody else. The error is the
// conflict, which stands where the version cannot be read.
func (a *API) takeOver(ctx context.Context, who *access.Caller, c access.Call, media string, conflict error) (*access.Result, error) {
	const attempts = 3 // others may write in between
	for range attempts {
		seen, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: c.Path})
		if err != nil {
			return nil, conflict
		}
		pinned := c
		pinned.Query = maps.Clone(c.Query)
		if pinned.Body, err = pin(c.Body, media, seen.Body); err != nil {
			return nil, conflict
		}
		answer, err := a.Upstream.Do(ctx, who, pinned)
		if conflictsOnlyWith(c.Query.Get("fieldManager"), err) {
			pinned.Query.Set("force", "true")
			answer, err = a.Upstream.Do(ctx, who, pinned)
		}
		if !isOutdated(err) {
			return answer, err
		}
	}
	return nil, conflict
}

// isOutdated reports whether a write was refused because the object has changed.
func isOutdated(err error) bool {
	problem, refused := errors.AsType[*view.Problem](err)
	return refused && problem.Status == http.StatusConflict && len(problem.Errors) == 0
}

// pin returns the body as JSON with the resourceVersion of the object that was seen, unless it has one of its own.
func pin(body []byte, media string, seen []byte) ([]byte, error) {
	var of sketch
	if err := json.Unmarshal(seen, &of); err != nil {
		return nil, err
	}
	body, err := jsonOf(body, media)
	if err != nil {
		return nil, err
	}
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("cannot pin the version of an empty body")
	}
	if raw, ok := object["metadata"]; ok {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, err
		}
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	if _, own := metadata["resourceVersion"]; own {
		return body, nil
	}
	if metadata["resourceVersion"], err = json.Marshal(of.Metadata.ResourceVersion); err != nil {
		return nil, err
	}
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}
