// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Selection is what lists and tables have in common: which objects, and in which order.
type Selection struct {
	Conditional
	FieldsInput

	Limit         int    `query:"limit" minimum:"0" maximum:"10000" doc:"Maximum number of items. metadata.continue of the answer gets the next page"`
	Continue      string `query:"continue" maxLength:"8192" doc:"metadata.continue of the previous page"`
	LabelSelector string `query:"labelSelector" maxLength:"4096" doc:"Label selector, as in kubectl: app=web,tier!=test"`
	FieldSelector string `query:"fieldSelector" maxLength:"4096" doc:"Field selector, as in kubectl: metadata.name=web"`
	Search        string `query:"q" maxLength:"256" doc:"Words that must all occur in the namespace, name, labels, reason, images or addresses"`
	Owner         string `query:"owner" maxLength:"64" doc:"UID of an object: list only what it owns"`
	Sort          string `query:"sort" enum:"name,created,-created" default:"name" doc:"Order of the items"`
	Consistent    bool   `query:"consistent" doc:"Ask the API server and not the cache"`
}

// ListInput is the input of a list.
type ListInput struct {
	Selection

	ManagedFields bool `query:"managedFields" doc:"Keep metadata.managedFields"`
}

// selected is a page of what the caller may list.
type selected struct {
	view.Page

	version string
	age     age
}

type namespacedList struct {
	ListInput

	Namespace string `query:"ns" maxLength:"63" doc:"Namespace. The default is all that the caller may list"`
}

// Resolve implements huma.Resolver.
func (l *namespacedList) Resolve(huma.Context) []error {
	if l.Namespace != "" && len(validation.IsDNS1123Label(l.Namespace)) > 0 {
		return []error{&huma.ErrorDetail{Location: locationNamespace, Message: "is not the name of a namespace"}}
	}
	return nil
}

// list answers with a page of the kind.
func (a *API) list(ctx context.Context, k *feed.Kind, namespace string, in *ListInput) (*huma.StreamResponse, error) {
	fields, err := in.projection()
	if err != nil {
		return nil, err
	}
	page, err := a.choose(ctx, k, namespace, in)
	if err != nil {
		return nil, err
	}
	page.Items = fields.Items(page.Items)
	list, err := view.NewList(k.GVK, page.version, page.Page)
	if err != nil {
		return nil, err
	}
	return a.represent(&representation{
		media: mediaJSON, tag: fields.Tag(list.Tag()), size: list.Size(), write: list.Write, age: page.age, uncompressed: k.Uncompressed,
	}), nil
}

// choose takes from the store what the caller may list, and asks the API server for everything else.
func (a *API) choose(ctx context.Context, k *feed.Kind, namespace string, in *ListInput) (*selected, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	query, err := in.query()
	if err != nil {
		return nil, err
	}
	if !in.ManagedFields && !in.Consistent && query.KnowsFields(&k.Kind) {
		if items, version, ok := a.listStored(ctx, who, k, namespace); ok {
			reads.WithLabelValues("cache").Inc()
			return &selected{query.Select(items), strconv.FormatUint(version, 10), a.age(k)}, nil
		}
	}
	reads.WithLabelValues("server").Inc()
	page, err := a.listLive(ctx, who, k, namespace, in)
	// Names have nothing that another field could be compared with.
	if k.Plural == view.NamespacesPlural && isForbidden(err) && query.KnowsFields(&k.Kind) {
		items, doubt := a.nameable(ctx, who, k, nil, view.Scope{})
		if doubt != nil {
			return nil, doubt
		}
		if len(items) > 0 {
			return &selected{query.Select(items), "0", 0}, nil
		}
	}
	return page, err
}

// isForbidden reports whether the API server refused a request for lack of a right.
func isForbidden(err error) bool {
	problem, refused := errors.AsType[*view.Problem](err)
	return refused && problem.Status == http.StatusForbidden
}

// listStored returns the part of the store that the caller may list; false if that is nothing, or the store is not in step or
// lacks a write of the gateway itself.
func (a *API) listStored(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) ([]*view.Item, uint64, bool) {
	items, version, ok := k.Store.List()
	if !ok || k.Store.Owes() {
		return nil, 0, false
	}
	of, err := a.Rights.ScopeOf(ctx, who, &k.Kind, namespace, "list")
	switch {
	case err != nil: // in doubt the API server is asked as the caller
		return nil, 0, false
	case of.All:
		return items, version, true
	case k.Plural == view.NamespacesPlural:
		items, err = a.nameable(ctx, who, k, items, of)
		return items, version, err == nil && len(items) > 0
	case of.Empty():
		return nil, 0, false
	default:
		return view.Within(items, of.Names()), version, true
	}
}

// nameable returns the namespaces that the caller may get, and only the names of those in which they may list something.
// Without items, where the store is not in step, it returns names only. An error means that nobody knows.
func (a *API) nameable(
	ctx context.Context, who *access.Caller, k *feed.Kind, items []*view.Item, of view.Scope,
) ([]*view.Item, error) {
	visible, err := a.Rights.Visible(ctx, who)
	if err != nil {
		return nil, err
	}
	if items == nil {
		for _, name := range visible.Names() {
			items = append(items, view.NameOnly(k.GVK, name))
		}
		return items, nil
	}
	out := make([]*view.Item, 0, len(of.Namespaces)+len(visible.Namespaces))
	for _, item := range items {
		switch {
		case of.Admits(item.Name):
			out = append(out, item)
		case visible.Admits(item.Name):
			out = append(out, view.NameOnly(k.GVK, item.Name))
		}
	}
	return out, nil
}
