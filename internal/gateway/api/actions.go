// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/kube"
)

// ActionInput is the input of every action.
type ActionInput struct {
	DryRunInput
	OwnerInput
	PinInput
	ConflictInput
	Target
}

// base returns what all actions have in common.
func (in *ActionInput) base() *ActionInput { return in }

// actionBody is the input of an action with a body.
type actionBody[B any] struct {
	ActionInput

	Body B
}

// actionOption is the input of an action whose body can be left out.
type actionOption[B any] struct {
	ActionInput

	Body *B
}

// actionOf describes an action: a route of one kind.
type actionOf struct {
	// name of the action, which ends its path.
	name string
	// summary and about describe it.
	summary, about string
	// ending allows the action on an object that is being deleted.
	ending bool
}

// objectPointer is a pointer to an object of a kind.
type objectPointer[T any] interface {
	*T
	metav1.Object
}

// inputPointer is a pointer to the input of an action.
type inputPointer[I any] interface {
	*I
	base() *ActionInput
}

// registerAction registers an action: change changes the object, and what differs then is written as the caller.
func registerAction[T, I any, O objectPointer[T], P inputPointer[I]](
	a *API, k *feed.Kind, of actionOf, change func(ctx context.Context, object O, in P) error,
) {
	handle(a, actionOperation(k, of, response("The object after the change", mediaJSON, k.GVK.Kind)),
		func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
			return act(ctx, a, k, of, P(in).base(), func(ctx context.Context, object O) error { return change(ctx, object, P(in)) })
		})
}

// actionOperation describes the route of an action.
func actionOperation(k *feed.Kind, of actionOf, good *huma.Response) huma.Operation {
	op := operation(k, of.name, http.MethodPost, objectPath(k, "/"+of.name), of.summary, map[int]*huma.Response{http.StatusOK: good})
	op.Description = of.about + " It reads the object and writes what differs, with the rights of the caller. 409 says why the " +
		"state of the object makes it meaningless."
	return op
}

// act reads an object as the caller, changes it, and writes what differs. The write carries the version and the UID that were read;
// if the object has changed since, the action is decided anew.
func act[T any, O objectPointer[T]](
	ctx context.Context, a *API, k *feed.Kind, of actionOf, in *ActionInput, change func(ctx context.Context, object O) error,
) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	c := access.Call{
		Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, ""), ContentType: string(types.MergePatchType),
		Query: dryRunQuery(in.DryRun),
	}
	c.Query.Set("fieldManager", in.manager())
	c.Query.Set("fieldValidation", "Strict")
	var answer *access.Result
	err = kube.DecideAnew(func() (outdated bool, err error) {
		if c.Body, err = decide(ctx, a, who, c.Path, of, in, change); err != nil {
			return false, err
		}
		answer, err = a.Upstream.Do(ctx, who, c)
		return isOutdated(err), err
	})
	a.audit(ctx, who, k, in.namespace, in.name, c, answer, err, "action", of.name)
	return a.written(ctx, k, in.namespace, in.name, c, answer, err)
}

// decide returns what an action changes in the present object.
func decide[T any, O objectPointer[T]](
	ctx context.Context, a *API, who *access.Caller, path string, of actionOf, in *ActionInput,
	change func(ctx context.Context, object O) error,
) ([]byte, error) {
	read, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, err
	}
	object, err := decodeAs[T](path, read)
	if err != nil {
		return nil, err
	}
	meta := O(object)
	if in.UID != "" && string(meta.GetUID()) != in.UID {
		return nil, wasReplaced(string(meta.GetUID()))
	}
	patch, err := action.Patch(meta, of.ending, func(O) error { return change(ctx, meta) })
	if err != nil || !in.RefuseConflicts {
		return patch, err
	}
	return patch, conflictsOfMerge(read.Body, patch)
}

// readAs reads what is at a path of the API server, as the caller.
func readAs[T any](ctx context.Context, a *API, who *access.Caller, path string) (*T, error) {
	answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, err
	}
	return decodeAs[T](path, answer)
}

func decodeAs[T any](path string, answer *access.Result) (*T, error) {
	out := new(T)
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return nil, fmt.Errorf("cannot read the answer of the API server to %s: %w", path, err)
	}
	return out, nil
}

// given returns a body, or the empty one if it was left out.
func given[B any](body *B) B {
	if body == nil {
		return *new(B)
	}
	return *body
}
