// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/membership"
)

const (
	// maxLists is how many lists are read from the API server at the same time: decoded, a part of one is several times as large as it was.
	maxLists = 2
	// maxList bounds what is kept of the lists of one request, and maxPart what is read of one at once, in bytes.
	maxList, maxPart = 128 << 20, 16 << 20
	// partSize is how many objects are read at once, if they are not too large together.
	partSize = 500
)

// listLive asks the API server as the caller, namespace by namespace if they may not list everywhere.
func (a *API) listLive(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string, in *ListInput) (*selected, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}
	held := heldOf(ctx)
	all, version := query.Gather(), "0"
	err = a.eachNamespace(ctx, who, k, namespace, func(within string) error {
		found := query.Gather()
		newest, err := a.readParts(ctx, who, k, within, in, found)
		if err != nil {
			return err
		}
		both := all.Size() + found.Size()
		all.Join(found)
		version = view.NewestVersion(version, newest)
		return held.Take(all.Size() - both)
	})
	if err != nil { // also with some of the items: nobody could tell them from all
		return nil, err
	}
	return &selected{all.Page(), version, 0}, nil
}

// listAs lists objects as the caller, past the cache: all that are selected, or the refusal of the API server.
func listAs[T any](ctx context.Context, a *API, who *access.Caller, k *feed.Kind, namespace string, of Selection) ([]T, error) {
	query, err := (&Selection{}).query() // the API server has selected
	if err != nil {
		return nil, err
	}
	found := query.Gather()
	if _, err := a.readParts(ctx, who, k, namespace, &ListInput{Selection: of}, found); err != nil {
		return nil, err
	}
	items := found.Page().Items
	out := make([]T, 0, len(items))
	for _, item := range items {
		object, err := decoded[T](item)
		if err != nil {
			return nil, err
		}
		out = append(out, *object)
	}
	return out, nil
}

// query returns what the input selects, or what is wrong with it.
func (in *Selection) query() (*view.Query, error) {
	query, err := view.ParseQuery(in.LabelSelector, in.FieldSelector, in.Search, in.Sort, in.Limit, in.Continue)
	if err != nil {
		return nil, fieldErrors(err)
	}
	query.OwnedBy(types.UID(in.Owner))
	return query, nil
}

// readParts reads a list into the page that it makes, and returns its resourceVersion. What is kept of it counts for the request.
func (a *API) readParts(
	ctx context.Context, who *access.Caller, k *feed.Kind, namespace string, in *ListInput, into *view.Gathering,
) (version string, err error) {
	query := url.Values{}
	setIf(query, "labelSelector", in.LabelSelector)
	setIf(query, "fieldSelector", in.FieldSelector)
	held := heldOf(ctx)
	call := access.Call{Method: http.MethodGet, Path: k.Path(namespace, "", ""), Query: query}
	err = a.inParts(ctx, who, call, 0, func(part []byte) (int, string, error) {
		items, list, err := view.ReadList(part, k.GVK, in.ManagedFields)
		if err != nil {
			return 0, "", err
		}
		before := into.Size()
		into.Add(items)
		version = list.ResourceVersion
		return len(items), list.Continue, held.Take(into.Size() - before)
	})
	return version, err
}

// inParts reads a list in parts, of fewer objects if those are large, up to so many objects or with 0 all of them. use takes a part and returns how
// many objects it has and how the list goes on. All parts are of one moment: what the API server continues a list with says of which.
func (a *API) inParts(
	ctx context.Context, who *access.Caller, c access.Call, want int, use func(part []byte) (int, string, error),
) error {
	leave, err := a.lists.Enter(ctx, who)
	if err != nil {
		return err
	}
	defer leave()
	c.Most = maxPart
	for size := partSize; ; {
		if want > 0 {
			size = min(size, want)
		}
		c.Query.Set("limit", strconv.Itoa(size))
		answer, err := a.Upstream.Do(ctx, who, c)
		if errors.Is(err, access.ErrTooLong) && size > 1 {
			size = max(1, size/10)
			continue
		}
		if err != nil {
			return a.unlessTooMuch(err)
		}
		n, next, err := use(answer.Body)
		if err != nil || next == "" || want > 0 && n >= want {
			return a.unlessTooMuch(err)
		}
		want = max(0, want-n)
		c.Query.Set("continue", next)
	}
}

// unlessTooMuch returns the problem of a list for which there is no room, and any other error as it is.
func (a *API) unlessTooMuch(err error) error {
	switch {
	case errors.Is(err, access.ErrTooLong):
		most := a.kept.Each()
		return view.NewProblem(http.StatusUnprocessableEntity, "TooLarge", fmt.Sprintf(
			"The objects of this list have more than %d MiB together. Ask for pages with limit, for one namespace, or for fewer objects with a selector.", most>>20,
		)).With(view.ParameterLimit, strconv.Itoa(most))
	case errors.Is(err, access.ErrNoRoom):
		return access.Busy("The gateway holds too many large answers that are not read yet. Try again in a second.")
	}
	return err
}

// eachNamespace calls list for the namespace, or for all at once, or, if that is forbidden, for each namespace that the caller
// may list the kind in. Without any, it returns the refusal.
func (a *API) eachNamespace(ctx context.Context, who *access.Caller, k *feed.Kind, namespace string, list func(namespace string) error) error {
	err := list(namespace)
	problem, refused := errors.AsType[*view.Problem](err)
	if namespace != "" || !k.Namespaced || !refused || problem.Status != http.StatusForbidden {
		return err
	}
	of, doubt := a.Rights.ScopeOf(ctx, who, &k.Kind, "", "list")
	switch {
	case doubt != nil: // a refusal would say that there is nothing for the caller
		return doubt
	case of.Empty():
		return err
	}
	for _, in := range of.Names() {
		if err := list(in); err != nil {
			return err
		}
	}
	return nil
}

func setIf(query url.Values, key, value string) {
	if value != "" {
		query.Set(key, value)
	}
}

// decoded returns an item as an object, or as the part of it that is needed.
func decoded[T any](item *view.Item) (*T, error) {
	out := new(T)
	if err := json.Unmarshal(item.JSON, out); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", item.Key(), err)
	}
	return out, nil
}

// hasJoined reports whether the node carries a member label of the pool: while the spec changes which one it is, members have either.
func hasJoined(node *view.Item, pool string) bool {
	return membership.HasJoined(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: node.Labels}}, pool)
}
