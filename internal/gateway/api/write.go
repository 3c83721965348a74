// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// fieldManager owns the fields that are written through the API, unless the caller names another one.
const fieldManager = "windlass-api"

// fieldManagerOfButtons begins the names of those that a page or a button has of its own.
const fieldManagerOfButtons = "windlass-console-"

// dryRunAll is the value of the parameter dryRun for a write that is not stored.
const dryRunAll = "All"

// replicasPath is where a Scale has its size.
const replicasPath = "/spec/replicas"

// catchUp is how long an answer waits until the store has its write.
const catchUp = 2 * time.Second

// DryRunInput is a parameter of every write.
type DryRunInput struct {
	// DryRun is All for a write that is not stored.
	DryRun string `query:"dryRun" enum:"All" doc:"All validates the request and does not store it"`
}

// CreateInput is the input of creating an object.
type CreateInput struct {
	DryRunInput
	OwnerInput

	ContentType string `header:"Content-Type" doc:"application/json or application/yaml"`
	RawBody     []byte
}

type namespacedCreate struct {
	CreateInput

	Namespace string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is the one in the object"`
}

// deleteInput is the input of deleting an object.
type deleteInput struct {
	DryRunInput
	PinInput
	Target

	Propagation string `query:"propagationPolicy" enum:"Background,Foreground,Orphan" default:"Background" doc:"What happens to the objects that it owns"`
}

// scaleInput is the input of scaling an object.
type scaleInput struct {
	DryRunInput
	OwnerInput
	PinInput
	ConflictInput
	Target

	Body struct {
		Replicas int32 `json:"replicas" minimum:"0" doc:"Desired number of replicas"`
	}
}

// parameters returns the query of a write.
func (in *CreateInput) parameters() url.Values {
	query := url.Values{"fieldValidation": {"Strict"}, "fieldManager": {in.manager()}}
	setIf(query, "dryRun", in.DryRun)
	return query
}

func (a *API) create(ctx context.Context, k *feed.Kind, namespace string, in *CreateInput) (*huma.StreamResponse, error) {
	media, err := mediaOf(in.ContentType)
	if err != nil {
		return nil, err
	}
	name := ""
	if k.Namespaced && namespace == "" || a.mayWrite(ctx, k, namespace, "", "create") {
		body, err := readSketch(k, media, in.RawBody)
		if err != nil {
			return nil, err
		}
		name = body.Metadata.Name
		if k.Namespaced {
			namespace = cmp.Or(namespace, body.Metadata.Namespace)
		}
	}
	if k.Namespaced && namespace == "" {
		return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "is required, because the object has no metadata.namespace", Code: view.FieldRequired})
	}
	return a.write(ctx, k, Target{namespace: namespace, name: name}, "", access.Call{
		Method: http.MethodPost, Path: k.Path(namespace, "", ""), Query: in.parameters(), Body: in.RawBody, ContentType: media,
	})
}

func (a *API) delete(ctx context.Context, k *feed.Kind, in *deleteInput) (*huma.StreamResponse, error) {
	options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletionPropagation(in.Propagation))}
	options.SetGroupVersionKind(metav1.Unversioned.WithKind("DeleteOptions"))
	options.APIVersion = "v1"
	if in.UID != "" {
		options.Preconditions = metav1.NewUIDPreconditions(in.UID)
	}
	if in.DryRun != "" {
		options.DryRun = []string{in.DryRun}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	return a.write(ctx, k, in.Target, in.UID, access.Call{
		Method: http.MethodDelete, Path: k.Path(in.namespace, in.name, ""), Body: body, ContentType: mediaJSON,
		Query: dryRunQuery(in.DryRun),
	})
}

func dryRunQuery(value string) url.Values {
	query := url.Values{}
	setIf(query, "dryRun", value)
	return query
}

func (a *API) scale(ctx context.Context, k *feed.Kind, in *scaleInput) (*huma.StreamResponse, error) {
	steps := []step{{"add", replicasPath, in.Body.Replicas}}
	if in.RefuseConflicts {
		seen, err := a.sizeUnlessSet(ctx, k, in)
		if err != nil {
			return nil, err
		}
		if seen != nil { // nobody else has set another one meanwhile
			steps = slices.Insert(steps, 0, step{"test", replicasPath, seen})
		}
	}
	if in.UID != "" { // a Scale of a CRD takes any UID, so it has to be a test
		steps = slices.Insert(steps, 0, step{"test", uidPath, in.UID})
	}
	body, err := json.Marshal(steps)
	if err != nil {
		return nil, err
	}
	query := dryRunQuery(in.DryRun)
	query.Set("fieldManager", in.manager())
	out, err := a.write(ctx, k, in.Target, in.UID, access.Call{
		Method: http.MethodPatch, Path: k.Path(in.namespace, in.name, "scale"), Query: query, Body: body,
		ContentType: string(types.JSONPatchType),
	})
	refusal, refused := errors.AsType[*view.Problem](err)
	if !refused || refusal.Status != http.StatusUnprocessableEntity || len(refusal.Errors) > 0 {
		return out, err
	}
	switch { // what fails without a field is a test
	case in.RefuseConflicts:
		return nil, changedMeanwhile()
	case in.UID != "":
		return nil, wasReplaced("")
	}
	return out, err
}

// write sends a write as the caller, logs it, and waits until the store has it. The UID is the one that the write is held to; empty for none.
func (a *API) write(ctx context.Context, k *feed.Kind, of Target, uid string, c access.Call) (*huma.StreamResponse, error) {
	c, answer, err := a.sendOwn(ctx, k, of.namespace, of.name, c)
	return a.written(ctx, k, of.namespace, of.name, c, answer, a.unlessReplaced(ctx, k, &of, uid, err))
}

// written returns the answer to a write once the store has it.
func (a *API) written(
	ctx context.Context, k *feed.Kind, namespace, name string, c access.Call, answer *access.Result, err error,
) (*huma.StreamResponse, error) {
	if err != nil {
		return nil, err
	}
	body, err := view.Strip(answer.Body)
	if err != nil {
		return nil, err
	}
	if c.Query.Get("dryRun") == "" {
		a.settle(ctx, k, namespace, name, c.Method, body)
	}
	return (&reply{status: answer.Status, media: mediaJSON, body: body, warnings: answer.Warnings}).stream(), nil
}

// sendOwn sends a write as the caller of the request, and returns it with its answer.
func (a *API) sendOwn(ctx context.Context, k *feed.Kind, namespace, name string, c access.Call) (access.Call, *access.Result, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return c, nil, err
	}
	answer, err := a.send(ctx, who, k, namespace, name, c)
	return c, answer, err
}

// send sends a write and logs it.
func (a *API) send(ctx context.Context, who *access.Caller, k *feed.Kind, namespace, name string, c access.Call) (*access.Result, error) {
	answer, err := a.Upstream.Do(ctx, who, c)
	a.audit(ctx, who, k, namespace, name, c, answer, err)
	return answer, err
}

// audit logs who wrote which object with which result, but never the body. More are further keys and values.
func (a *API) audit(
	ctx context.Context, who *access.Caller, k *feed.Kind, namespace, name string, c access.Call, answer *access.Result, err error, more ...any,
) {
	var status int
	if answer != nil {
		status = answer.Status
	} else {
		status = asProblem(err).Status
	}
	a.Log.WithValues(more...).Info("Write", "user", who.User.GetName(), "session", who.Session, "method", c.Method, "kind", k.GVK.Kind,
		"namespace", namespace, "name", name, "dryRun", c.Query.Get("dryRun") != "", "status", status, "request", instance(ctx))
}

// settle waits a short time until the store has a write, so that callers read what they wrote.
func (a *API) settle(ctx context.Context, k *feed.Kind, namespace, name, method string, body []byte) {
	var written sketch
	if err := json.Unmarshal(body, &written); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	// A store that does not catch up in time only means that the next read may be older.
	if method == http.MethodDelete {
		_ = k.Store.AwaitDeletion(ctx, &view.Item{
			Namespace: namespace, Name: cmp.Or(name, written.Metadata.Name), UID: cmp.Or(written.Metadata.UID, written.Details.UID),
		})
		return
	}
	_ = k.Store.AwaitVersion(ctx, written.Metadata.ResourceVersion)
}
