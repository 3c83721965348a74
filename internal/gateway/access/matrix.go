// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"sync"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// MayDo reports whether the caller may do that with the object, or with any object if the name is empty. An error means that
// nobody knows.
func (r *Rights) MayDo(ctx context.Context, who *Caller, k *view.Kind, action view.Action, namespace, name string) (bool, error) {
	return r.allowed(ctx, who, request{
		verb: action.Verb, resource: k.Resource(), subresource: action.Subresource, namespace: namespace, name: name,
	})
}

// Matrix returns what the caller may do with every kind, in the whole cluster and in the namespaces. With an error nothing is
// known. It is some sixty reviews for each namespace, so a caller has one at a time. Namespaces that do not exist are asked about as well: the time of
// an answer must not tell which they are.
func (r *Rights) Matrix(ctx context.Context, who *Caller, namespaces []string) (*view.RightsMatrix, error) {
	leave, err := r.matrices.Enter(ctx, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := &view.RightsMatrix{Everywhere: map[string]view.Actions{}, Namespaces: map[string]map[string]view.Actions{}}
	var (
		failed error
		asking sync.WaitGroup
		mu     sync.Mutex
		free   = make(chan struct{}, askers)
	)
	ask := func(k *view.Kind, action view.Action, namespace string, into view.Actions) {
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			allowed, err := r.MayDo(ctx, who, k, action, namespace, "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			into[action.Name] = allowed
		})
	}
	for i := range r.kinds {
		k := &r.kinds[i]
		rows := map[string]view.Actions{"": {}}
		out.Everywhere[k.Plural] = rows[""]
		for _, namespace := range namespaces {
			if !k.Namespaced {
				break
			}
			if out.Namespaces[namespace] == nil {
				out.Namespaces[namespace] = map[string]view.Actions{}
			}
			rows[namespace] = view.Actions{}
			out.Namespaces[namespace][k.Plural] = rows[namespace]
		}
		for namespace, into := range rows {
			for _, action := range k.Actions() {
				ask(k, action, namespace, into)
			}
		}
	}
	asking.Wait()
	if failed != nil {
		return nil, failed
	}
	return out, nil
}
