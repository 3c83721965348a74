// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/kube"
)

// applyInput is the input of applying an object.
type applyInput struct {
	CreateInput
	PinInput
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
	read, err := a.mustRead(ctx, k, in.Target, in.UID, "patch")
	if err != nil {
		return c, nil, err
	}
	if read {
		if _, err := in.fits(k, media); err != nil {
			return c, nil, err
		}
	}
	body, media, err := pinObject(in.RawBody, media, in.UID)
	if err != nil {
		return c, nil, err
	}
	c = access.Call{
		Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, ""), Query: in.parameters(), Body: body,
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
	return c, answer, a.unlessReplaced(ctx, k, &in.Target, in.UID, err)
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
	var answer *access.Result
	err := kube.DecideAnew(func() (outdated bool, err error) {
		seen, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: c.Path})
		if err != nil {
			return false, conflict
		}
		pinned := c
		pinned.Query = maps.Clone(c.Query)
		if pinned.Body, err = pinVersion(c.Body, media, seen.Body); err != nil {
			return false, conflict
		}
		answer, err = a.Upstream.Do(ctx, who, pinned)
		if conflictsOnlyWith(c.Query.Get("fieldManager"), err) {
			pinned.Query.Set("force", "true")
			answer, err = a.Upstream.Do(ctx, who, pinned)
		}
		return isOutdated(err), err
	})
	if isOutdated(err) {
		return nil, conflict
	}
	return answer, err
}

// isOutdated reports whether a write was refused because the object has changed.
func isOutdated(err error) bool {
	problem, refused := errors.AsType[*view.Problem](err)
	return refused && problem.Status == http.StatusConflict && len(problem.Errors) == 0
}
