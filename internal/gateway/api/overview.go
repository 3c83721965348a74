// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const overviewTag = "overview"

const (
	// maxMatrix is how many namespaces one answer about rights has at most.
	maxMatrix = 16
	// matrixWeight is how many requests the rights in a namespace count for: they are some sixty reviews.
	matrixWeight = 10
)

// SummaryInput is the input of counting and searching objects.
type SummaryInput struct {
	// Namespace of the objects.
	Namespace string `query:"ns" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"Namespace. The default is all that the caller may list"`
}

type summaryInput struct {
	Conditional
	SummaryInput
}

type searchInput struct {
	SummaryInput

	Words string `query:"q" required:"true" minLength:"1" maxLength:"256" doc:"Words that must all occur in the namespace, name, labels, reason, images or addresses"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of objects"`
}

type rightsInput struct {
	Namespaces string `query:"ns" maxLength:"1024" doc:"Namespaces, separated by commas; at most 16. The default is none"`
}

type (
	searchOutput struct{ Body view.Found }
	rightsOutput struct{ Body view.RightsMatrix }
)

// registerOverview registers the routes over all kinds.
func (a *API) registerOverview() {
	op := func(id, summary, about string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: "/v1/" + id, Summary: summary, Tags: []string{overviewTag},
			Responses: answers(map[int]*huma.Response{http.StatusOK: {Description: about}}),
		}
	}
	a.routes.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[view.Summary](), true, schemaSummary)
	counts := op("summary", "Count objects of every kind by state and reason", "")
	counts.Responses = answers(tagged(response("The counts", mediaJSON, schemaSummary)))
	handle(a, counts, a.summary)
	search := op("search", "Find objects of every kind", "The objects")
	search.Responses["200"].Headers = carries(headerAge, headerWarning)
	handle(a, search, a.search)
	handle(a, op("rights", "What the caller may do, by kind and namespace", "The rights"), a.rights)
}

// visible calls show for every kind with the objects that the caller may list, and returns the kinds of which they may list none.
func (a *API) visible(ctx context.Context, namespace string, show func(k *feed.Kind, items []*view.Item)) ([]string, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	hidden := []string{}
	for _, k := range a.countable(namespace) {
		// Asked here, because a list from the store does not tell a right that nobody knows from one that is denied.
		if _, err := a.Rights.ScopeOf(ctx, who, &k.Kind, namespace, "list"); err != nil {
			return nil, err
		}
		items, _, ok := a.listStored(ctx, who, k, namespace)
		if !ok {
			hidden = append(hidden, k.Plural)
			continue
		}
		a.madeFrom(ctx, k)
		show(k, items)
	}
	return hidden, nil
}

// countable returns the kinds that are counted and searched in the namespace, or everywhere if it is empty.
func (a *API) countable(namespace string) []*feed.Kind {
	return slices.DeleteFunc(slices.Clone(a.Hub.Kinds), func(k *feed.Kind) bool {
		return k.Uncached || k.Quiet || namespace != "" && !k.Namespaced
	})
}

// summary counts the objects that the caller may list.
func (a *API) summary(ctx context.Context, in *summaryInput) (*huma.StreamResponse, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	out, oldest := view.Summary{Kinds: []view.KindSummary{}, Hidden: []string{}}, age(0)
	for _, k := range a.countable(in.Namespace) {
		one, shown, err := a.summarize(ctx, who, k, in.Namespace)
		if err != nil {
			return nil, err
		}
		if shown {
			out.Kinds, oldest = append(out.Kinds, one), max(oldest, a.age(k))
		} else {
			out.Hidden = append(out.Hidden, k.Plural)
		}
	}
	view.SortSummaries(out.Kinds)
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a summary: %w", err)
	}
	made := encoded(mediaJSON, body)
	made.age = oldest
	return a.represent(made), nil
}

// summarize counts the objects of a kind that the caller may list; false if that is none of them, or nobody has counted them.
func (a *API) summarize(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string) (view.KindSummary, bool, error) {
	of, err := a.Rights.ScopeOf(ctx, who, &k.Kind, namespace, "list")
	if err != nil {
		return view.KindSummary{}, false, err
	}
	if k.Plural == view.NamespacesPlural && !of.All { // of which the caller sees more than they may list
		items, _, ok := a.listStored(ctx, who, k, namespace)
		return view.Summarize(k.Plural, items), ok, nil
	}
	counted, items, ok := k.Store.Count(of)
	if !ok || of.Empty() || k.Store.Owes() {
		return view.KindSummary{}, false, nil
	}
	if !of.All {
		items = view.Within(items, of.Names())
	}
	return view.SummaryOf(k.Plural, counted, items), true, nil
}

// search finds objects among those that the caller may list.
func (a *API) search(ctx context.Context, in *searchInput) (*searchOutput, error) {
	query, err := view.ParseQuery("", "", in.Words, "", 0, "")
	if err != nil {
		return nil, fieldErrors(err)
	}
	out := &searchOutput{Body: view.Found{Items: []view.FoundItem{}}}
	out.Body.Hidden, err = a.visible(ctx, in.Namespace, func(k *feed.Kind, items []*view.Item) {
		for _, item := range query.Select(items).Items {
			if len(out.Body.Items) == in.Limit {
				out.Body.More = true
				return
			}
			out.Body.Items = append(out.Body.Items, view.FoundItem{
				Kind: k.Plural, Named: view.Named{Namespace: item.Namespace, Name: item.Name},
				State: item.Health.State, Reason: item.Health.Reason,
			})
		}
	})
	return out, err
}

// rights says what the caller may do with every kind, in the whole cluster and in some namespaces.
func (a *API) rights(ctx context.Context, in *rightsInput) (*rightsOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for name := range strings.SplitSeq(in.Namespaces, ",") {
		if name == "" && in.Namespaces == "" {
			break
		}
		if len(validation.IsDNS1123Label(name)) > 0 {
			return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "must be names of namespaces, separated by commas"})
		}
		namespaces = append(namespaces, name)
	}
	if namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces))); len(namespaces) > maxMatrix {
		return nil, fieldErrors(&view.FieldError{Location: locationNamespace, Message: "must be at most 16 namespaces"})
	}
	if pause := a.Limits.Charge(who.Key(), matrixWeight*len(namespaces)); pause > 0 {
		return nil, access.TooMany(pause)
	}
	matrix, err := a.Rights.Matrix(ctx, who, namespaces)
	if err != nil {
		return nil, err
	}
	return &rightsOutput{Body: *matrix}, nil
}
