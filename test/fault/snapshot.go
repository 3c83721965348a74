// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/test/rig"
)

// snapshot is all objects of a control plane, by resource, namespace and name.
type snapshot map[string]*unstructured.Unstructured

// listers is how many lists a snapshot reads at the same time.
const listers = 8

// snapshot reads all objects that there are: from etcd which versions they have, and from the API server those that are new. It may share
// objects with other snapshots: nobody may change them.
func (l *lane) snapshot(ctx context.Context) (snapshot, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	folders, err := l.survey(ctx)
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for _, kind := range l.kinds {
		if kind.compared {
			group.Go(func() error { return kind.read(ctx, l.Client, folders[kind.folder]) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := snapshot{}
	for _, kind := range l.kinds {
		for i := range kind.last {
			if object := &kind.last[i]; !isIdentity(object) && !isRunning(kind.resource, object.GetNamespace(), object.GetName()) {
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

// isRunning says whether an object is the ConfigMap that publishes what a tool prints. Only a run that takes long enough has one.
func isRunning(resource, namespace, name string) bool {
	return resource == "configmaps" && namespace == rig.Namespace && strings.HasSuffix(name, clusterprovisionerv1alpha1.RunningSuffix)
}

// read brings what is known of the kind to these versions, or to newer ones.
func (k *kind) read(ctx context.Context, from client.Reader, now versions) error {
	if maps.Equal(now, k.seen) {
		return nil
	}
	if !now.isPartOf(k.seen) {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(k.GroupVersionKind)
		fresh := &metav1.ListOptions{
			ResourceVersion: strconv.FormatInt(now.newest(), 10), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}
		if err := from.List(ctx, &list, &client.ListOptions{Raw: fresh}); err != nil {
			return fmt.Errorf("cannot list %s: %w", k.resource, err)
		}
		k.last = list.Items
	}
	// A list of that age may still have what was deleted. Snapshots share what was listed, so it stays as it is.
	left := make([]unstructured.Unstructured, 0, len(now))
	for i := range k.last {
		if _, ok := now[keyIn(k.folder, &k.last[i])]; ok {
			left = append(left, k.last[i])
		}
	}
	k.seen, k.last = now, left
	return nil
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
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Event"))
	if err := l.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("cannot list events: %w", err)
	}
	cleared := map[string]bool{}
	for i := range list.Items {
		namespace := list.Items[i].Namespace
		if cleared[namespace] {
			continue
		}
		cleared[namespace] = true
		if err := l.Client.DeleteAllOf(ctx, &corev1.Event{}, client.InNamespace(namespace)); err != nil {
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
