// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RecheckBehind is when to look again at an object that the cache shows as it was.
const RecheckBehind = time.Second

// Confirm reports whether an object is there as the cache has it. A process that has just started may have read lists from an API server that
// is behind. If an object is as before its deletion in them, what is made for it outside of the cluster stays for ever, because nobody waits for its
// end any more. If its spec or its status is an old one, what the process before has done looks like somebody else's.
//
// One look at each object is enough: what this process does itself, it knows. Only after an error as the answer to a status, other than a
// conflict, it looks once more. The first look is at all objects of the kind; only one that the cache shows otherwise is looked at by itself, and not more
// often than once in RecheckBehind. Both are lists, which need no right that a cache does not need. Other controllers ask, too, before they do something
// for the object.
func (l *Lifecycle[T, S]) Confirm(ctx context.Context, object T) (bool, error) {
	if l.Live == nil || l.confirmed.has(object) {
		return true, nil
	}
	key, now := client.ObjectKeyFromObject(object), l.Now()
	if last := l.behind.Last(key); !last.IsZero() && now.Sub(last) < RecheckBehind {
		return false, nil
	}
	kind, err := l.Client.GroupVersionKindFor(object)
	if err != nil {
		return false, fmt.Errorf("cannot tell the kind of an object: %w", err)
	}
	there, err := l.present.has(ctx, l.Live, kind, object)
	switch {
	case err != nil:
		return false, fmt.Errorf("cannot read past the cache: %w", err)
	case !there:
		l.behind.Set(key, now)
		return false, nil
	}
	l.confirmed.add(object)
	l.behind.Drop(key)
	return true, nil
}

// version is an object at a time.
type version struct {
	uid     types.UID
	version string
}

func versionOf(object metav1.Object) version {
	return version{uid: object.GetUID(), version: object.GetResourceVersion()}
}

// pageSize is how many objects a list reads at a time.
const pageSize = 500

// present remembers the objects of a kind as the API server had them at the first look, until they are asked for. Its zero value has not looked yet.
type present struct {
	mu     sync.Mutex
	looked bool
	all    map[client.ObjectKey]version
}

// has reports whether the API server has the object in this version.
func (p *present) has(ctx context.Context, live client.Reader, kind schema.GroupVersionKind, object client.Object) (bool, error) {
	if seen, err := p.take(ctx, live, kind, client.ObjectKeyFromObject(object)); err != nil || seen == versionOf(object) {
		return err == nil, err
	}
	now, err := look(ctx, live, kind, client.InNamespace(object.GetNamespace()), client.MatchingFields{metav1.ObjectNameField: object.GetName()})
	return err == nil && now[client.ObjectKeyFromObject(object)] == versionOf(object), err
}

// take returns what the first look has shown of an object, and forgets it. All wait for that look.
func (p *present) take(ctx context.Context, live client.Reader, kind schema.GroupVersionKind, key client.ObjectKey) (version, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		all, err := look(ctx, live, kind)
		if err != nil {
			return version{}, err
		}
		p.looked, p.all = true, all
	}
	seen := p.all[key]
	delete(p.all, key)
	return seen, nil
}

// look lists objects of a kind, without their content.
func look(ctx context.Context, live client.Reader, kind schema.GroupVersionKind, which ...client.ListOption) (map[client.ObjectKey]version, error) {
	all := map[client.ObjectKey]version{}
	for next := ""; ; {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := live.List(ctx, list, append(which, client.Limit(pageSize), client.Continue(next))...); err != nil {
			return nil, err
		}
		for i := range list.Items {
			all[client.ObjectKeyFromObject(&list.Items[i])] = versionOf(&list.Items[i])
		}
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
}
