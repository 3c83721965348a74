// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot is all objects of a control plane, by resource, namespace and name.
type snapshot map[string]*unstructured.Unstructured

// listers is how many lists a snapshot reads at the same time.
const listers = 8

// snapshot reads all objects that there are. It may share objects with other snapshots: nobody may change them.
func (l *lane) snapshot(ctx context.Context) (snapshot, error) {
	lists := make([][]unstructured.Unstructured, len(l.kinds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for i, kind := range l.kinds {
		group.Go(func() (err error) {
			lists[i], err = kind.list(ctx, l.Client)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := snapshot{}
	for i, kind := range l.kinds {
		for j := range lists[i] {
			if object := &lists[i][j]; !isIdentity(object) {
				all[key(kind.resource, object)] = object
			}
		}
	}
	return all, nil
}

// isIdentity says whether an object is the Lease by which the API server tells that it runs. Each of its processes has its own.
func isIdentity(object *unstructured.Unstructured) bool {
	_, ok := object.GetLabels()["apiserver.kubernetes.io/identity"]
	return ok
}

// list returns all objects of the kind. It asks for their metadata first, because most kinds never change in a campaign, and the
// definitions of kinds alone are a megabyte.
func (k *kind) list(ctx context.Context, from client.Reader) ([]unstructured.Unstructured, error) {
	var versions metav1.PartialObjectMetadataList
	versions.SetGroupVersionKind(k.GroupVersionKind)
	if err := from.List(ctx, &versions); err != nil {
		return nil, fmt.Errorf("cannot list versions of %s: %w", k.resource, err)
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if slices.EqualFunc(versions.Items, k.last, func(now metav1.PartialObjectMetadata, was unstructured.Unstructured) bool {
		return now.UID == was.GetUID() && now.ResourceVersion == was.GetResourceVersion()
	}) {
		return k.last, nil
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(k.GroupVersionKind)
	if err := from.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", k.resource, err)
	}
	k.last = list.Items
	return k.last, nil
}

func key(resource string, object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return resource + "/" + object.GetName()
	}
	return resource + "/" + object.GetNamespace() + "/" + object.GetName()
}

// state is what a run has made of the cluster: the content of objects that it created or changed, and nil for those that it
// removed. Two runs ended alike if their states are equal.
type state map[string]any

// since returns what is different from a snapshot that was taken before.
func (s snapshot) since(before snapshot) state {
	names := newNames(s, before)
	changed := state{}
	for key, object := range s {
		was, ok := before[key]
		if ok && was.GetUID() == object.GetUID() && was.GetResourceVersion() == object.GetResourceVersion() {
			continue
		}
		now := names.normalise(object)
		if ok && was.GetUID() == object.GetUID() && reflect.DeepEqual(names.normalise(was), now) {
			continue
		}
		changed[names.replace(key)] = now
	}
	for key := range before {
		if _, ok := s[key]; !ok {
			changed[key] = nil
		}
	}
	return changed
}

// deleteEvents deletes all events, so that those of the next run are by themselves.
func (l *lane) deleteEvents(ctx context.Context) error {
	var namespaces corev1.NamespaceList
	if err := l.Client.List(ctx, &namespaces); err != nil {
		return fmt.Errorf("cannot list namespaces: %w", err)
	}
	for i := range namespaces.Items {
		if err := l.Client.DeleteAllOf(ctx, &corev1.Event{}, client.InNamespace(namespaces.Items[i].Name)); err != nil {
			return fmt.Errorf("cannot delete events: %w", err)
		}
	}
	return nil
}

// events returns what events say, as "Kind/name: Reason".
func (l *lane) events(ctx context.Context) (map[string]string, error) {
	var list corev1.EventList
	if err := l.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list events: %w", err)
	}
	out := map[string]string{}
	for i := range list.Items {
		event := &list.Items[i]
		out[event.InvolvedObject.Kind+"/"+event.InvolvedObject.Name+": "+event.Reason] += event.Message + "\n"
	}
	return out, nil
}
