// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// patchInput is the input of patching an object.
type patchInput struct {
	CreateInput
	PinInput
	ConflictInput
	Target
}

// registerPatch registers the route that patches objects of the kind.
func (a *API) registerPatch(k *feed.Kind) {
	patched := map[int]*huma.Response{http.StatusOK: response("The object after the change", mediaJSON, k.GVK.Kind)}
	op := takesBody(k, operation(k, "patch", http.MethodPatch, objectPath(k, ""), "Change some fields of one", patched))
	op.Metadata[metaBody] = patchBodies(k)
	handle(a, op, func(ctx context.Context, in *patchInput) (*huma.StreamResponse, error) {
		c, answer, err := a.patch(ctx, k, in)
		return a.written(ctx, k, in.namespace, in.name, c, answer, err)
	})
}

// patchBodies describes the bodies of patches of the kind.
func patchBodies(k *feed.Kind) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, media := range patches(k) {
		content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
		if media == string(types.JSONPatchType) {
			content[media].Schema = &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
		}
	}
	return content
}

// patches returns the media types of patches that the kind takes. Strategic patches need merge keys, which kinds of CRDs do not
// have.
func patches(k *feed.Kind) []string {
	out := []string{string(types.MergePatchType), string(types.JSONPatchType)}
	if !strings.Contains(k.GVK.Group, ".") {
		out = append(out, string(types.StrategicMergePatchType))
	}
	return out
}

// patch sends a patch as it is: the API server reads it, and refuses callers who cannot patch before that.
func (a *API) patch(ctx context.Context, k *feed.Kind, in *patchInput) (access.Call, *access.Result, error) {
	media, _, err := mime.ParseMediaType(in.ContentType)
	if known := patches(k); err != nil || !slices.Contains(known, media) {
		return access.Call{}, nil, view.NewProblem(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"The Content-Type of a patch must be "+strings.Join(known, " or ")+".").With(view.ParameterAllowed, strings.Join(known, ", "))
	}
	body := in.RawBody
	if in.UID != "" {
		if _, err := a.mustRead(ctx, k, in.Target, in.UID, "patch"); err != nil {
			return access.Call{}, nil, err
		}
		if body, err = pinPatch(body, media, in.UID); err != nil {
			return access.Call{}, nil, err
		}
	}
	if in.RefuseConflicts {
		c, answer, err := a.patchUnlessSet(ctx, k, in, media)
		return c, answer, a.unlessReplaced(ctx, k, &in.Target, in.UID, err)
	}
	c, answer, err := a.sendOwn(ctx, k, in.namespace, in.name, access.Call{
		Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, ""), Query: in.parameters(), Body: body, ContentType: media,
	})
	return c, answer, a.unlessReplaced(ctx, k, &in.Target, in.UID, err)
}

// put applies or replaces an object.
func (a *API) put(ctx context.Context, k *feed.Kind, in *applyInput) (access.Call, *access.Result, error) {
	if !in.Replace {
		return a.apply(ctx, k, in)
	}
	if in.Force {
		return access.Call{}, nil, fieldErrors(&view.FieldError{Location: "query.force", Message: "does not apply to replace: send the newest metadata.resourceVersion"})
	}
	return a.replace(ctx, k, in)
}

// replace replaces an object, unless it has changed since the caller read it: without a resourceVersion, they would remove what
// others have set.
func (a *API) replace(ctx context.Context, k *feed.Kind, in *applyInput) (access.Call, *access.Result, error) {
	media, err := mediaOf(in.ContentType)
	if err != nil {
		return access.Call{}, nil, err
	}
	read, err := a.mustRead(ctx, k, in.Target, in.UID, "update")
	if err != nil {
		return access.Call{}, nil, err
	}
	if read {
		body, err := in.fits(k, media)
		if err != nil {
			return access.Call{}, nil, err
		}
		if body.Metadata.ResourceVersion == "" {
			return access.Call{}, nil, fieldErrors(&view.FieldError{
				Location: "body.metadata.resourceVersion", Message: "is required to replace an object: send the one that you have read",
				Code: view.FieldRequired,
			})
		}
	}
	body, media, err := pinObject(in.RawBody, media, in.UID)
	if err != nil {
		return access.Call{}, nil, err
	}
	c, answer, err := a.sendOwn(ctx, k, in.namespace, in.name, access.Call{
		Method: http.MethodPut, Path: k.Path(in.namespace, in.name, ""), Query: in.parameters(), Body: body, ContentType: media,
	})
	return c, answer, a.unlessReplaced(ctx, k, &in.Target, in.UID, err)
}
