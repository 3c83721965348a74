// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

func creation(k *feed.Kind, namespace string, body []byte, dry string) access.Call {
	query := url.Values{"fieldValidation": {"Strict"}, "fieldManager": {fieldManager}}
	setIf(query, "dryRun", dry)
	return access.Call{Method: http.MethodPost, Path: k.Path(namespace, "", ""), Query: query, Body: body, ContentType: mediaJSON}
}

// createParts creates the Deployment and the Service. If the Service fails, that very Deployment is deleted again. A caller who leaves in between cuts
// nothing in half.
func (a *API) createParts(ctx context.Context, who *access.Caller, app *view.App, dry string) (deployment, service []byte, err error) {
	if dry == "" {
		whole, cancel := staying(ctx)
		defer cancel()
		ctx = whole
	}
	first, err := a.createPart(ctx, who, a.deployments, app, app.Deployment(), dry)
	if err != nil {
		return nil, nil, err
	}
	second, err := a.createPart(ctx, who, a.services, app, app.Service(), dry)
	if err == nil || dry != "" {
		return first, second, err
	}
	// The time for both may be over; the first half must not stay anyway.
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Timeout)
	defer cancel()
	if undoErr := a.deletePart(undo, who, a.deployments, app.Namespace, app.Name, uidOf(first)); undoErr != nil {
		problem := *asProblem(err)
		problem.Detail += " Cannot delete the Deployment again: " + asProblem(undoErr).Detail
		return nil, nil, &problem
	}
	return nil, nil, err
}

// staying returns a context that a caller who leaves does not end. It has the deadline of ctx, after which no answer can be written.
func staying(ctx context.Context) (context.Context, context.CancelFunc) {
	whole := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(whole, end)
	}
	return context.WithCancel(whole)
}

func (a *API) createPart(ctx context.Context, who *access.Caller, k *feed.Kind, app *view.App, object any, dry string) ([]byte, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	answer, err := a.send(ctx, who, k, app.Namespace, app.Name, creation(k, app.Namespace, body, dry))
	switch {
	case err != nil && dry == "":
		return nil, unlessUnknown(k, app, err)
	case err != nil:
		return nil, err
	}
	out, err := view.Strip(answer.Body)
	if err == nil && dry == "" {
		a.settle(ctx, k, app.Namespace, app.Name, http.MethodPost, out)
	}
	return out, err
}

// unlessUnknown returns the refusal of a part as it is. After any other failure the API server may have created the part, which the problem says.
func unlessUnknown(k *feed.Kind, app *view.App, err error) error {
	if refusal, refused := errors.AsType[*view.Problem](err); refused && refusal.Status < http.StatusInternalServerError {
		return err
	}
	problem := *asProblem(err)
	problem.Detail += " The " + k.GVK.Kind + " may exist: DELETE /v1/apps/" + app.Namespace + "/" + app.Name + " deletes what there is of the app."
	return errors.Join(&problem, err)
}

// part returns the object with the name of the app, or nil if there is none.
func (a *API) part(ctx context.Context, who *access.Caller, k *feed.Kind, namespace, name string) ([]byte, error) {
	answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: k.Path(namespace, name, "")})
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return view.Strip(answer.Body)
}

// parts returns both objects with the name of the app.
func (a *API) parts(ctx context.Context, who *access.Caller, at *appTarget) (deployment, service []byte, err error) {
	deployment, errDeployment := a.part(ctx, who, a.deployments, at.Namespace, at.Name)
	service, errService := a.part(ctx, who, a.services, at.Namespace, at.Name)
	return deployment, service, errors.Join(errDeployment, errService)
}

// deletePart deletes the object with the UID. It is not an error if that is already gone.
func (a *API) deletePart(ctx context.Context, who *access.Caller, k *feed.Kind, namespace, name string, uid types.UID) error {
	options := metav1.DeleteOptions{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Preconditions: &metav1.Preconditions{UID: &uid},
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	}
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	answer, err := a.send(ctx, who, k, namespace, name, access.Call{
		Method: http.MethodDelete, Path: k.Path(namespace, name, ""), Body: body, ContentType: mediaJSON,
	})
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusNotFound {
		return nil
	}
	if err == nil {
		a.settle(ctx, k, namespace, name, http.MethodDelete, answer.Body)
	}
	return err
}
