// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// kind is a resource that can be listed.
type kind struct {
	schema.GroupVersionKind

	resource string
	// compared is false for a kind that is not part of the state: events, which are compared by themselves.
	compared bool
	// folder is where its objects are in etcd. It is empty until there has been one, which shows where that is.
	folder string
	// seen are the versions of the objects when they were read last, and last is what was read.
	seen versions
	last []unstructured.Unstructured
}

// discover asks the API server what it serves: nothing that a manager could leave behind is overlooked because a list of kinds
// did not have it. It leaves out componentstatuses, which are computed when somebody asks.
func (l *lane) discover() ([]*kind, error) {
	api, err := discovery.NewDiscoveryClientForConfig(l.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	lists, err := api.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("cannot ask the API server what it serves: %w", err)
	}
	var kinds []*kind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("cannot read what the API server serves: %w", err)
		}
		for i := range list.APIResources {
			served := &list.APIResources[i]
			if !slices.Contains(served.Verbs, "list") || served.Name == "componentstatuses" {
				continue
			}
			kinds = append(kinds, &kind{
				GroupVersionKind: version.WithKind(served.Kind), compared: served.Name != "events",
				resource: strings.TrimSuffix(served.Name+"."+version.Group, "."),
			})
		}
	}
	slices.SortFunc(kinds, func(a, b *kind) int { return cmp.Compare(a.resource, b.resource) })
	return kinds, nil
}

// survey returns the versions of all objects, by the folder in etcd that they are in. It goes on until it knows of each key to which kind it
// belongs, or that it belongs to none.
func (l *lane) survey(ctx context.Context) (map[string]versions, error) {
	var asked versions
	for {
		all, err := l.registry.versions(ctx)
		if err != nil {
			return nil, err
		}
		sorted, rest := all.folders(l.folders())
		for key, version := range rest {
			// It was there before and after the kinds were listed, and none of them has it.
			if before, ok := asked[key]; ok && before == version {
				l.foreign[key] = true
			}
			if l.foreign[key] {
				delete(rest, key)
			}
		}
		if len(rest) == 0 {
			return sorted, nil
		}
		for _, kind := range l.kinds {
			if err := kind.place(ctx, l, rest); err != nil {
				return nil, err
			}
		}
		asked = rest
	}
}

// folders returns the folders of the kinds that have one.
func (l *lane) folders() map[string]bool {
	known := map[string]bool{}
	for _, kind := range l.kinds {
		if kind.folder != "" {
			known[kind.folder] = true
		}
	}
	return known
}

// place finds out where etcd has objects of the kind, if it has one of these versions. A version is that of one object alone.
func (k *kind) place(ctx context.Context, l *lane, among versions) error {
	if k.folder != "" {
		return nil
	}
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(k.GroupVersionKind)
	if err := l.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("cannot list %s: %w", k.resource, err)
	}
	for key, version := range among {
		for i := range list.Items {
			object := &list.Items[i]
			if object.ResourceVersion != strconv.FormatInt(version, 10) {
				continue
			}
			folder := strings.TrimSuffix(key, keyIn("", object))
			if folder == key {
				return fmt.Errorf("cannot find %s in etcd: the key of %q is %q", k.resource, object.Name, key)
			}
			k.folder = folder
			return nil
		}
	}
	return nil
}

// keyIn returns the key that an object has in a folder of etcd.
func keyIn(folder string, object metav1.Object) string {
	return folder + path.Join("/", object.GetNamespace(), object.GetName())
}
