// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxLists is how many lists are read from the API server at the same time: until they are whole, they are in memory.
	maxLists = 2
	// maxList bounds what is kept of one of them, in bytes, and maxPart what is read of it at once: decoded, it is several times as large.
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
	leave, err := enter(ctx, a.lists)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, version := query.Gather(), "0"
	err = a.eachNamespace(ctx, who, k, namespace, func(within string) error {
		found := query.Gather()
		newest, err := a.readParts(ctx, who, k, within, in, found)
		if err != nil {
			return err
		}
		all.Join(found)
		version = view.NewestVersion(version, newest)
		return withinBounds(all)
	})
	if err != nil { // also with some of the items: nobody could tell them from all
		return nil, err
	}
	return &selected{all.Page(), version, 0}, nil
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

// readParts reads a list in parts, of fewer objects if those are large, and returns its resourceVersion. All parts are of one moment: what
// the API server continues a list with says of which.
func (a *API) readParts(
	ctx context.Context, who *access.Caller, k *feed.Kind, namespace string, in *ListInput, into *view.Gathering,
) (version string, err error) {
	query := url.Values{}
	setIf(query, "labelSelector", in.LabelSelector)
	setIf(query, "fieldSelector", in.FieldSelector)
	for size := partSize; ; {
		query.Set("limit", strconv.Itoa(size))
		answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: k.Path(namespace, "", ""), Query: query, Most: maxPart})
		if errors.Is(err, access.ErrTooLong) && size > 1 {
			size = max(1, size/10)
			continue
		}
		if err != nil {
			return "", unlessTooLong(err)
		}
		items, list, err := view.ReadList(answer.Body, k.GVK, in.ManagedFields)
		if err != nil {
			return "", err
		}
		into.Add(items)
		if err := withinBounds(into); err != nil || list.Continue == "" {
			return list.ResourceVersion, err
		}
		query.Set("continue", list.Continue)
	}
}

// withinBounds returns the problem of a list that is too large to be kept.
func withinBounds(list *view.Gathering) error {
	if list.Size() > maxList {
		return tooLarge()
	}
	return nil
}

// unlessTooLong returns the problem of an answer that is too long, and any other error as it is.
func unlessTooLong(err error) error {
	if errors.Is(err, access.ErrTooLong) {
		return tooLarge()
	}
	return err
}

func tooLarge() error {
	return view.NewProblem(http.StatusUnprocessableEntity, "TooLarge", fmt.Sprintf(
		"The objects of this list have more than %d MiB together. Ask for pages with limit, for one namespace, or for fewer objects with a selector.", maxList>>20,
	)).With(view.ParameterLimit, strconv.Itoa(maxList))
}

// enter waits for one of the slots, which the caller leaves.
func enter(ctx context.Context, slots chan struct{}) (leave func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
	if doubt != nil || of.Empty() {
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
