// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// eventsInput is the input of the events about an object.
type eventsInput struct {
	Conditional
	FieldsInput
	Target

	Limit    int    `query:"limit" minimum:"0" maximum:"10000" default:"500" doc:"Maximum number of events. metadata.continue of the answer gets the next page"`
	Continue string `query:"continue" maxLength:"2048" doc:"metadata.continue of the previous page"`
}

// events answers with the events about an object, the newest first. Events about cluster-scoped objects are in the namespace
// "default".
func (a *API) events(ctx context.Context, k *feed.Kind, in *eventsInput) (*huma.StreamResponse, error) {
	within := in.namespace
	if !k.Namespaced {
		within = metav1.NamespaceDefault
	}
	selector := fields.Set{"involvedObject.kind": k.GVK.Kind, "involvedObject.name": in.name}
	if k.Namespaced {
		selector["involvedObject.namespace"] = in.namespace
	}
	return a.list(ctx, a.eventKind, within, &ListInput{Selection: Selection{
		FieldsInput: in.FieldsInput, FieldSelector: selector.AsSelector().String(), Sort: view.SortNewest, Limit: in.Limit, Continue: in.Continue,
	}})
}
