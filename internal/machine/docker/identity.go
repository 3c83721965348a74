// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The labels that make a container ours.
const (
	labelInstallation = "cloudnative.tw/installation"
	labelUID          = "cloudnative.tw/vm-uid"
	labelNamespace    = "cloudnative.tw/vm-namespace"
	labelName         = "cloudnative.tw/vm-name"
	labelHash         = "cloudnative.tw/spec-hash"
	labelIncarnation  = "cloudnative.tw/incarnation"
	// labelReplaces is the ID of the container in whose place this one was made.
	labelReplaces = "cloudnative.tw/replaces"
)

// labelsOf returns the labels of a new container.
func labelsOf(spec machine.Spec) map[string]string {
	return map[string]string{
		labelInstallation: spec.Installation,
		labelUID:          spec.UID,
		labelNamespace:    spec.Namespace,
		labelName:         spec.Name,
		labelHash:         spec.Hash,
		labelIncarnation:  rand.Text(),
	}
}

// identityOf reads the identity from the labels of a container.
func identityOf(labels map[string]string) machine.Identity {
	return machine.Identity{
		Installation: labels[labelInstallation],
		UID:          labels[labelUID],
		Namespace:    labels[labelNamespace],
		Name:         labels[labelName],
	}
}

// containerName matches the names that the engine accepts: at least two characters.
var containerName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)

// namesOf returns the possible names of a container, the preferred one first.
func namesOf(id machine.Identity) []string {
	return slices.DeleteFunc([]string{id.Name, longName(id)}, func(name string) bool { return !containerName.MatchString(name) })
}

// temporaryName is the name of a container that replaces another one, until that one is gone.
func temporaryName(id machine.Identity) string { return longName(id) + ".new" }

// longName is a name that no machine of another object has.
func longName(id machine.Identity) string {
	return fmt.Sprintf("%s-%s-%.8s", id.Namespace, id.Name, id.UID)
}

// find returns the containers of the machine, first the one that is the machine. There is more than one only if two managers
// created them at the same moment, or while one replaces another. Of the former, one that has run counts, or else the older one.
func (d *driver) find(ctx context.Context, id machine.Identity) ([]container.Summary, error) {
	if id.Installation == "" || id.UID == "" {
		return nil, nil
	}
	return d.list(ctx, within(id.Installation).Add("label", labelUID+"="+id.UID))
}

// only returns the container of the machine, or ErrNotFound.
func (d *driver) only(ctx context.Context, id machine.Identity) (container.Summary, error) {
	found, err := d.find(ctx, id)
	if err != nil {
		return container.Summary{}, err
	}
	if len(found) == 0 {
		return container.Summary{}, notFound(id)
	}
	return found[0], nil
}

func notFound(id machine.Identity) error {
	return fmt.Errorf("cannot find the container of machine %q: %w", id.UID, machine.ErrNotFound)
}

// list returns the containers that match the filters and are ours, in any state, sorted by UID and age, those that have run first. An engine dates a container
// when it begins to make it and lists it when it is made: one that comes late can be older than the one that runs by then.
func (d *driver) list(ctx context.Context, filters client.Filters) ([]container.Summary, error) {
	result, err := d.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return nil, explain(ctx, "list containers", err)
	}
	ours := make([]container.Summary, 0, len(result.Items))
	for _, c := range result.Items {
		if c.Labels[labelInstallation] == "" || c.Labels[labelUID] == "" {
			continue
		}
		copied, err := d.copied(ctx, c)
		if err != nil {
			return nil, err
		}
		if !copied {
			ours = append(ours, c)
		}
	}
	waiting := successors(ours)
	slices.SortFunc(ours, func(a, b container.Summary) int {
		return cmp.Or(cmp.Compare(a.Labels[labelUID], b.Labels[labelUID]), cmp.Compare(waiting[a.ID], waiting[b.ID]),
			cmp.Compare(unused(a), unused(b)), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return ours, nil
}

// unused returns 1 for a container that has never run.
func unused(c container.Summary) int {
	if c.State == container.StateCreated {
		return 1
	}
	return 0
}

// successors returns 1 for the containers that are not the machine, by ID: their predecessor is still there, or another container has its name by
// now. A request that outlives its manager can make the latter.
func successors(all []container.Summary) map[string]int {
	uids, named, out := map[string]string{}, map[string]bool{}, map[string]int{}
	for _, c := range all {
		uids[c.ID] = c.Labels[labelUID]
		if !isTemporary(c) {
			named[c.Labels[labelUID]] = true
		}
	}
	for _, c := range all {
		uid := c.Labels[labelUID]
		if predecessor, ok := uids[c.Labels[labelReplaces]]; ok && predecessor == uid || isTemporary(c) && named[uid] {
			out[c.ID] = 1
		}
	}
	return out
}

// isTemporary reports whether the container still has the name of one that replaces another. Then it has never run.
func isTemporary(c container.Summary) bool {
	return slices.Contains(c.Names, "/"+temporaryName(identityOf(c.Labels)))
}

// machines returns the container of every machine in a sorted list.
func machines(sorted []container.Summary) []container.Summary {
	return slices.CompactFunc(sorted, func(a, b container.Summary) bool { return a.Labels[labelUID] == b.Labels[labelUID] })
}

// within returns a filter for the containers of the installation.
func within(installation string) client.Filters {
	return make(client.Filters).Add("label", labelInstallation+"="+installation)
}

// copied reports whether the container inherited its labels from an image of one of our containers.
func (d *driver) copied(ctx context.Context, c container.Summary) (bool, error) {
	inherited, ok := d.images.get(c.ImageID)
	if !ok {
		image, err := d.api.ImageInspect(ctx, c.ImageID)
		switch {
		case errdefs.IsNotFound(err):
			return false, nil // the image was removed by force, so this is not a copy that matters
		case err != nil:
			return false, explain(ctx, "inspect an image", err)
		case image.Config != nil:
			inherited = image.Config.Labels[labelIncarnation]
		}
		d.images.put(c.ImageID, inherited)
	}
	return inherited != "" && inherited == c.Labels[labelIncarnation], nil
}

// incarnations caches the incarnation labels of images by image ID. An ID is a digest, so its labels never change.
type incarnations struct {
	mu    sync.Mutex
	known map[string]string
}

// maxImages bounds the cache. Few hosts have a tenth of that.
const maxImages = 1024

func newIncarnations() *incarnations { return &incarnations{known: map[string]string{}} }

func (i *incarnations) get(image string) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	incarnation, ok := i.known[image]
	return incarnation, ok
}

func (i *incarnations) put(image, incarnation string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.known) >= maxImages {
		clear(i.known)
	}
	i.known[image] = incarnation
}
