// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// maxOwners, maxRelated and maxEvents bound a description.
	maxOwners, maxRelated, maxEvents = 8, 200, 100
)

type describeInput struct{ Target }

type describeOutput struct{ Body view.Description }

// registerDescribe registers the route that describes objects of the kind.
func (a *API) registerDescribe(k *feed.Kind) {
	op := operation(k, "describe", http.MethodGet, objectPath(k, "/describe"), "Read one with its owners, its children and their events", map[int]*huma.Response{
		http.StatusOK: {Description: "The object and what is around it", Headers: carries(headerAge, headerWarning)},
	})
	op.Description = "Owners up to the one that nothing owns, and what the object owns or has: pods of a Deployment or a node, nodes of a NodePool, Kubeconfigs of a Cluster. " +
		"Only what the caller may read: hidden says what is missing."
	handle(a, op, func(ctx context.Context, in *describeInput) (*describeOutput, error) { return a.describe(ctx, k, in) })
}

// description is a description that is being made.
type description struct {
	view.Description

	api *API
	who *access.Caller
}

func (a *API) describe(ctx context.Context, k *feed.Kind, in *describeInput) (*describeOutput, error) {
	who, err := access.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	of, err := a.itemOf(ctx, who, k, in.namespace, in.name)
	if err != nil {
		return nil, err
	}
	leave, err := a.survey(ctx, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	d := &description{api: a, who: who, Description: view.Description{
		Object: view.Relate(k.Plural, of, ""), Owners: []view.Related{}, Children: []view.Related{}, Events: []view.RelatedEvent{}, Hidden: []string{},
	}}
	for _, look := range []func(context.Context, *feed.Kind, *view.Item) error{d.ascend, d.descend, d.gather, d.listen} {
		if err := look(ctx, k, of); err != nil {
			return nil, err
		}
	}
	return &describeOutput{Body: d.Description}, nil
}

// itemOf reads an object from the API server as the caller.
func (a *API) itemOf(ctx context.Context, who *access.Caller, k *feed.Kind, namespace, name string) (*view.Item, error) {
	answer, err := a.Upstream.Do(ctx, who, access.Call{Method: http.MethodGet, Path: k.Path(namespace, name, "")})
	if err != nil {
		return nil, err
	}
	return view.ReadItem(answer.Body)
}

// hide says once what the caller may not read.
func (d *description) hide(because string) {
	if because != "" && !slices.Contains(d.Hidden, because) {
		d.Hidden = append(d.Hidden, because)
	}
}

// ascend follows the owners up to the one that nothing owns, one that is not served, or one that the caller may not read.
func (d *description) ascend(ctx context.Context, _ *feed.Kind, of *view.Item) error {
	for range maxOwners {
		owner, found := ownerOf(of)
		if !found {
			return nil
		}
		k := d.api.kindOf(owner)
		if k == nil {
			return nil
		}
		within := ""
		if k.Namespaced {
			within = of.Namespace
		}
		above, err := d.api.itemOf(ctx, d.who, k, within, owner.Name)
		problem, refused := errors.AsType[*view.Problem](err)
		switch {
		case refused && problem.Status == http.StatusForbidden:
			d.hide("you may not get " + k.Plural)
			return nil
		case refused && problem.Status == http.StatusNotFound:
			return nil
		case err != nil:
			return err
		case above.UID != owner.UID:
			return nil // another one of that name
		}
		d.Owners = append(d.Owners, view.Relate(k.Plural, above, ""))
		of = above
	}
	return nil
}

// ownerOf returns the controller of an object, or the first of its owners.
func ownerOf(of *view.Item) (metav1.OwnerReference, bool) {
	partial, err := decoded[metav1.PartialObjectMetadata](of)
	if err != nil || len(partial.OwnerReferences) == 0 {
		return metav1.OwnerReference{}, false
	}
	if controller := metav1.GetControllerOf(partial); controller != nil {
		return *controller, true
	}
	return partial.OwnerReferences[0], true
}

// kindOf returns the kind that a reference is to, nil if it is not served.
func (a *API) kindOf(ref metav1.OwnerReference) *feed.Kind {
	version, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(a.Hub.Kinds, func(k *feed.Kind) bool { return k.GVK.Kind == ref.Kind && k.GVK.Group == version.Group })
	if at < 0 {
		return nil
	}
	return a.Hub.Kinds[at]
}

// descend follows what the object owns, level by level. The kinds of each level follow from the kind above.
func (d *description) descend(ctx context.Context, k *feed.Kind, of *view.Item) error {
	level := map[string][]*view.Item{k.Plural: {of}}
	for len(level) > 0 {
		next := map[string][]*view.Item{}
		for _, kind := range d.api.Hub.Kinds { // in the order of the table
			for _, plural := range view.ChildKinds(kind.Plural) {
				parents := level[kind.Plural]
				if len(parents) == 0 {
					continue
				}
				below, _ := d.api.Hub.Kind(plural) // the table of kinds has it
				children, err := d.owned(ctx, below, of.Namespace, parents)
				if err != nil {
					return err
				}
				next[plural] = append(next[plural], children...)
			}
		}
		level = next
		for plural, items := range level {
			if len(items) == 0 {
				delete(level, plural)
			}
		}
	}
	return nil
}

// owned enters the objects of the kind that one of the parents owns.
func (d *description) owned(ctx context.Context, k *feed.Kind, namespace string, parents []*view.Item) ([]*view.Item, error) {
	items, because, err := d.api.all(ctx, d.who, k, namespace)
	d.hide(because)
	if err != nil {
		return nil, err
	}
	var out []*view.Item
	for _, item := range items {
		for _, parent := range parents {
			if slices.Contains(item.Owners, parent.UID) && d.enter(k.Plural, item, string(parent.UID)) {
				out = append(out, item)
			}
		}
	}
	return out, nil
}

// enter adds a child, unless there are too many.
func (d *description) enter(plural string, item *view.Item, parent string) bool {
	if len(d.Children) == maxRelated {
		d.LeftOut++
		return false
	}
	d.Children = append(d.Children, view.Relate(plural, item, parent))
	return true
}

// gather enters what the object has without owning it: nodes of a pool, and pods of a node.
func (d *description) gather(ctx context.Context, k *feed.Kind, of *view.Item) error {
	var plural string
	var has func(*view.Item) bool
	switch k.Plural {
	case nodesPlural:
		plural, has = view.PodsPlural, func(pod *view.Item) bool { return pod.Fields["spec.nodeName"] == of.Name }
	case poolsPlural:
		plural, has = nodesPlural, func(node *view.Item) bool { return hasJoined(node, of.Name) }
	default:
		return nil
	}
	kind, _ := d.api.Hub.Kind(plural) // the table of kinds has it
	items, because, err := d.api.all(ctx, d.who, kind, "")
	d.hide(because)
	if err != nil {
		return err
	}
	for _, item := range items {
		if has(item) {
			d.enter(plural, item, string(of.UID))
		}
	}
	return nil
}

// listen enters the newest events about all objects.
func (d *description) listen(ctx context.Context, _ *feed.Kind, _ *view.Item) error {
	about := map[[3]string]view.Related{}
	for _, one := range slices.Concat([]view.Related{d.Object}, d.Owners, d.Children) {
		k, _ := d.api.Hub.Kind(one.Kind) // where the name is from
		about[[3]string{k.GVK.Kind, one.Namespace, one.Name}] = one
	}
	items, err := d.events(ctx, about)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(item *view.Item) bool {
		_, ours := about[involved(item)]
		return !ours
	})
	slices.SortStableFunc(items, func(x, y *view.Item) int { return y.Created.Compare(x.Created) })
	for _, item := range items[:min(len(items), maxEvents)] {
		event, err := view.RelateEvent(about[involved(item)], item)
		if err != nil {
			return err
		}
		d.Events = append(d.Events, event)
	}
	return nil
}

// involved returns kind, namespace and name of what an event is about. Its UID is not what it seems: kubelets put names there.
func involved(event *view.Item) [3]string {
	return [3]string{event.Fields["involvedObject.kind"], event.Fields["involvedObject.namespace"], event.Fields["involvedObject.name"]}
}

// events returns the events of the namespaces that the objects are in, as far as the caller may list them. Those about cluster-scoped
// objects are in the namespace "default".
func (d *description) events(ctx context.Context, about map[[3]string]view.Related) ([]*view.Item, error) {
	items, because, err := d.api.all(ctx, d.who, d.api.eventKind, "")
	if because == "" || err != nil {
		return slices.Clone(items), err
	}
	namespaces := map[string]bool{}
	for _, one := range about {
		namespaces[cmp.Or(one.Namespace, metav1.NamespaceDefault)] = true
	}
	var out []*view.Item
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		items, because, err := d.api.all(ctx, d.who, d.api.eventKind, namespace)
		d.hide(because)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, nil
}
