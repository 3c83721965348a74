// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const appsTag = "apps"

type appOutput struct {
	Status int
	Body   view.AppState
}

type appInput struct {
	DryRunInput

	Namespace string    `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is the one in the body"`
	Body      *view.App `required:"false"`
}

type appsInput struct {
	Namespace string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is all that the caller may list"`
}

type appInNamespace struct {
	Namespace string `query:"ns" required:"true" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace of the app"`
	Name      string `path:"name" maxLength:"63" pattern:"^[a-z]([-a-z0-9]*[a-z0-9])?$" doc:"Name of the app"`
}

type appTarget struct {
	Namespace string `path:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace of the app"`
	Name      string `path:"name" maxLength:"63" pattern:"^[a-z]([-a-z0-9]*[a-z0-9])?$" doc:"Name of the app"`
}

// registerApps registers the routes of apps.
func (a *API) registerApps() {
	op := func(id, method, path, summary string, status int, about string) huma.Operation {
		return huma.Operation{
			OperationID: "apps-" + id, Method: method, Path: path, Summary: summary, Tags: []string{appsTag}, DefaultStatus: status,
			Responses: answers(map[int]*huma.Response{status: {Description: about}}), MaxBodyBytes: maxBody,
		}
	}
	list := op("list", http.MethodGet, "/v1/apps", "List apps", http.StatusOK, "Apps")
	list.Responses["200"].Headers = carries(headerAge, headerWarning)
	handle(a, list, a.listApps)
	create := op("create", http.MethodPost, "/v1/apps", "Create a Deployment and its Service, both or neither", http.StatusCreated, "The app")
	create.Description = "Without a body, the API creates the example."
	create.Responses["200"] = &huma.Response{Description: "The app that would be created"}
	create.Responses["200"].Content = map[string]*huma.MediaType{mediaJSON: {Schema: ref("AppState")}}
	create.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{mediaJSON: {Example: view.DefaultApp()}}}
	handle(a, create, a.createApp)
	handle(a, op("get", http.MethodGet, "/v1/apps/{ns}/{name}", "Read one", http.StatusOK, "The app"), a.getApp)
	const deletes, results = "Delete both, even if one of them is already gone", "The result for both"
	handle(a, op("delete", http.MethodDelete, "/v1/apps/{ns}/{name}", deletes, http.StatusOK, results), a.deleteApp)
	handle(a, op("get-in", http.MethodGet, "/v1/apps/{name}", "Read one of the namespace ns", http.StatusOK, "The app"),
		func(ctx context.Context, in *appInNamespace) (*appOutput, error) {
			return a.getApp(ctx, &appTarget{in.Namespace, in.Name})
		})
	handle(a, op("delete-in", http.MethodDelete, "/v1/apps/{name}", deletes+"; of the namespace ns", http.StatusOK, results),
		func(ctx context.Context, in *appInNamespace) (*deletionOutput, error) {
			return a.deleteApp(ctx, &appTarget{in.Namespace, in.Name})
		})
}

func (a *API) getApp(ctx context.Context, in *appTarget) (*appOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	deployment, service, err := a.parts(ctx, who, in)
	if err != nil {
		return nil, asProblem(err)
	}
	if deployment != nil && !view.IsAppPart(deployment) {
		deployment = nil
	}
	if service != nil && !view.IsAppPart(service) {
		service = nil
	}
	if deployment == nil && service == nil {
		return nil, view.NewProblem(http.StatusNotFound, "NotFound", "There is no app with this name.")
	}
	state, err := view.ReadApp(in.Namespace, in.Name, deployment, service)
	return &appOutput{Status: http.StatusOK, Body: state}, err
}

type deletionOutput struct{ Body view.AppDeletion }

// deleteApp deletes both parts. A failure of one does not keep the other from being deleted, and the problem says what became of
// each.
func (a *API) deleteApp(ctx context.Context, in *appTarget) (*deletionOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	out := &deletionOutput{}
	var failed *view.Problem
	var became []view.FieldError
	for _, part := range []struct {
		kind   *feed.Kind
		result *string
	}{{a.deployments, &out.Body.Deployment}, {a.services, &out.Body.Service}} {
		*part.result, err = a.deleteIfPart(ctx, who, part.kind, in)
		message := *part.result
		if err != nil {
			problem := asProblem(err)
			*part.result, message = "failed", "not deleted: "+problem.Detail
			if failed == nil {
				failed = problem
			}
		}
		became = append(became, view.FieldError{
			Location: part.kind.Plural, Message: message, Code: view.FieldPart, Parameters: map[string]string{"result": *part.result},
		})
	}
	if failed == nil {
		return out, nil
	}
	problem := *failed
	problem.Detail = "Deployment: " + became[0].Message + ". Service: " + became[1].Message + "."
	problem.Errors = became
	return nil, &problem
}

func (a *API) deleteIfPart(ctx context.Context, who *access.Caller, k *feed.Kind, at *appTarget) (string, error) {
	object, err := a.part(ctx, who, k, at.Namespace, at.Name)
	switch {
	case err != nil:
		return "", err
	case object == nil:
		return view.PartGone, nil
	case !view.IsAppPart(object):
		return view.PartForeign, nil
	default:
		return view.PartDeleted, a.deletePart(ctx, who, k, at.Namespace, at.Name, uidOf(object))
	}
}

type appsOutput struct{ Body view.AppList }

// listApps lists the apps that have a Deployment or a Service.
func (a *API) listApps(ctx context.Context, in *appsInput) (*appsOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := a.labelled(ctx, who, a.deployments, in.Namespace)
	if err != nil {
		return nil, err
	}
	services, err := a.labelled(ctx, who, a.services, in.Namespace)
	if err != nil {
		return nil, err
	}
	out := &appsOutput{Body: view.AppList{Items: []view.AppState{}}}
	for _, pair := range view.Pair(deployments, services) {
		state, err := view.ReadApp(pair.Namespace, pair.Name, pair.Deployment, pair.Service)
		if err != nil {
			return nil, err
		}
		out.Body.Items = append(out.Body.Items, state)
	}
	return out, nil
}

// labelled lists the parts of apps of one kind.
func (a *API) labelled(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) ([]*view.Item, error) {
	query, err := view.ParseQuery(view.AppLabel+"="+view.AppLabelValue, "", "", "", 0, "")
	if err != nil {
		return nil, err
	}
	if items, _, ok := a.listStored(ctx, who, k, namespace); ok {
		a.madeFrom(ctx, k)
		return query.Select(items).Items, nil
	}
	list, err := a.listLive(ctx, who, k, namespace, &ListInput{Selection: Selection{LabelSelector: view.AppLabel + "=" + view.AppLabelValue}})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
