// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
	"github.com/windlass-operator/windlass/internal/gateway/access"
)

// debugInput is the input of adding a debugging container.
type debugInput struct {
	DryRunInput
	OwnerInput
	PinInput
	Target

	Body action.DebugRequest
}

// DebugContainer is the answer to adding a debugging container.
type DebugContainer struct {
	Pod       string `json:"pod" doc:"Pod that has the container"`
	Container string `json:"container" doc:"Name of the container, to attach to once it runs"`
}

// debugOutput is the output of adding a debugging container.
type debugOutput struct {
	Body DebugContainer
}

// registerDebug registers the route that adds a debugging container to a pod.
func (a *API) registerDebug() {
	op := operation(a.pods, "debug", http.MethodPost, objectPath(a.pods, "/debug"), "Add a debugging container", map[int]*huma.Response{
		http.StatusCreated: response("The container", mediaJSON, "DebugContainer"),
	})
	op.DefaultStatus = http.StatusCreated
	op.Description = "It adds an ephemeral container with stdin and a terminal, as kubectl debug does, and does not wait until it runs. Kubernetes " +
		"cannot remove it from the pod again."
	handle(a, op, a.debug)
}

// debug adds a debugging container to a pod as the caller.
func (a *API) debug(ctx context.Context, in *debugInput) (*debugOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	namespace, name, err := in.Body.ToolOf()
	if err != nil {
		return nil, err
	}
	var tool *appsv1alpha1.PodBuggerTool
	if name != "" {
		k, _ := a.Hub.Kind("podbuggertools") // the table of kinds has it
		if tool, err = readAs[appsv1alpha1.PodBuggerTool](ctx, a, who, k.Path(namespace, name, "")); err != nil {
			return nil, err
		}
	}
	container := action.Debug(&in.Body, tool)
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": []corev1.EphemeralContainer{container}}})
	if err != nil {
		return nil, err
	}
	if body, _, err = pinObject(body, mediaJSON, in.UID); err != nil {
		return nil, err
	}
	c := access.Call{
		Method: http.MethodPatch, Path: a.pods.Path(in.namespace, in.name, "ephemeralcontainers"), Query: dryRunQuery(in.DryRun), Body: body,
		ContentType: string(types.StrategicMergePatchType),
	}
	c.Query.Set("fieldManager", in.manager())
	answer, err := a.Upstream.Do(ctx, who, c)
	a.audit(ctx, who, a.pods, in.namespace, in.name, c, answer, err, "action", "debug", "container", container.Name)
	err = a.unlessReplaced(ctx, a.pods, &in.Target, in.UID, err)
	if _, err := a.written(ctx, a.pods, in.namespace, in.name, c, answer, err); err != nil {
		return nil, err
	}
	return &debugOutput{Body: DebugContainer{Pod: in.name, Container: container.Name}}, nil
}
