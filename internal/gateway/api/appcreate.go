// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// createApp creates both or neither. A dry run of both comes first, so that a refusal comes before anything exists. If the
// second one fails anyway, the first one is deleted again. A namespace that was created for them stays: others may use it by then.
func (a *API) createApp(ctx context.Context, in *appInput) (*appOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	app, err := in.app()
	if err != nil {
		return nil, err
	}
	missing, err := a.missingNamespace(ctx, who, &app)
	if err != nil {
		return nil, err
	}
	if missing {
		// Nothing can be tried in a namespace that does not exist, so the rights are asked for.
		if err := a.mayCreateParts(ctx, who, app.Namespace); err != nil {
			return nil, err
		}
		if in.DryRun != "" {
			return a.previewApp(ctx, who, &app)
		}
	}
	made := false
	if missing {
		if made, err = a.createNamespace(ctx, who, app.Namespace, ""); err != nil {
			return nil, err
		}
	}
	out, err := a.createInNamespace(ctx, who, &app, in.DryRun)
	if err != nil && made {
		return nil, withNamespace(app.Namespace, err)
	}
	return out, err
}

// app returns the app that is asked for.
func (in *appInput) app() (view.App, error) {
	app := view.DefaultApp()
	if in.Body != nil {
		app = *in.Body
		if app.Namespace == "" {
			app.Namespace = in.Namespace
		}
	} else if in.Namespace != "" {
		app.Namespace = in.Namespace
	}
	switch {
	case app.Namespace == "":
		return app, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "is required, because the app has no namespace", Code: view.FieldRequired})
	case in.Namespace != "" && app.Namespace != in.Namespace:
		return app, fieldErrors(&view.FieldError{Location: "body.namespace", Message: "must be the namespace of the query"})
	}
	if errs := app.Invalid(); len(errs) > 0 {
		return app, view.NewProblem(http.StatusUnprocessableEntity, "Invalid", "The request is not valid.", errs...)
	}
	return app, nil
}

func (a *API) createInNamespace(ctx context.Context, who *access.Caller, app *view.App, dry string) (*appOutput, error) {
	deployment, service, err := a.createParts(ctx, who, app, metav1.DryRunAll)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if dry == "" {
		status = http.StatusCreated
		if deployment, service, err = a.createParts(ctx, who, app, ""); err != nil {
			return nil, err
		}
	}
	state, err := view.ReadApp(app.Namespace, app.Name, deployment, service)
	return &appOutput{Status: status, Body: state}, err
}

// previewApp answers a dry run for a namespace that does not exist. The API server tries the namespace.
func (a *API) previewApp(ctx context.Context, who *access.Caller, app *view.App) (*appOutput, error) {
	if _, err := a.createNamespace(ctx, who, app.Namespace, metav1.DryRunAll); err != nil {
		return nil, err
	}
	deployment, err := json.Marshal(app.Deployment())
	if err != nil {
		return nil, err
	}
	service, err := json.Marshal(app.Service())
	if err != nil {
		return nil, err
	}
	state, err := view.ReadApp(app.Namespace, app.Name, deployment, service)
	return &appOutput{Status: http.StatusOK, Body: state}, err
}

// mayCreateParts returns the problem of a caller who cannot create both parts in the namespace.
func (a *API) mayCreateParts(ctx context.Context, who *access.Caller, namespace string) error {
	for _, k := range []*feed.Kind{a.deployments, a.services} {
		allowed, err := a.Rights.May(ctx, who, &k.Kind, namespace, "", "create")
		if err != nil {
			return err
		}
		if !allowed {
			return forbidden("Forbidden", "You cannot create "+k.Plural+" in the namespace "+namespace+". Nothing was created.")
		}
	}
	return nil
}

// missingNamespace reports whether the caller asked for a namespace that does not exist.
func (a *API) missingNamespace(ctx context.Context, who *access.Caller, app *view.App) (bool, error) {
	if !app.CreateNamespace {
		return false, nil
	}
	_, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: a.namespaces.Path("", app.Namespace, "")})
	problem, refused := errors.AsType[*view.Problem](err)
	if refused && problem.Status == http.StatusNotFound {
		return true, nil
	}
	return false, err
}

// createNamespace creates a namespace; false if another request created it first.
func (a *API) createNamespace(ctx context.Context, who *access.Caller, name, dry string) (bool, error) {
	body, err := json.Marshal(&corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name},
	})
	if err != nil {
		return false, err
	}
	_, err = a.send(ctx, who, a.namespaces, "", name, creation(a.namespaces, "", body, dry))
	if problem, refused := errors.AsType[*view.Problem](err); refused && problem.Status == http.StatusConflict {
		return false, nil
	}
	return err == nil, err
}

// withNamespace returns the failure of an app whose namespace was created for it, with its cause for the log.
func withNamespace(name string, cause error) error {
	problem := *asProblem(cause)
	problem.Detail += " The namespace " + name + " was created and stays."
	return errors.Join(&problem, cause)
}
