// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// survey is how all objects stand that the caller may see.
type survey struct {
	// Objects that stand, the worst first, and how many of them are ready, by kind.
	Objects []*standing `json:"objects"`
	Kinds   []*tally    `json:"kinds"`
	// Unseen are parts of sentences: what the caller may not list.
	Unseen []string `json:"unseen,omitempty"`
}

// tally counts the objects of a kind.
type tally struct {
	Kind  string `json:"kind"`
	Ready int    `json:"ready"`
	All   int    `json:"all"`

	of *kind
}

// found is what was read of a kind.
type found struct {
	standing []*standing
	unseen   string
	// version is that of the last list, to watch from, and namespace where it was listed.
	version, namespace string
	// lost is why it cannot be read at present.
	lost string
}

// surveyed is how a kind was read, of all kinds.
type surveyed map[*kind]*found

// readAll reads the kinds, all at the same time.
func (c *cluster) readAll(ctx context.Context, of []*kind) (surveyed, error) {
	results := make([]*found, len(of))
	errs := make([]error, len(of))
	var reading sync.WaitGroup
	for i, k := range of {
		reading.Go(func() { results[i], errs[i] = c.readKind(ctx, k) })
	}
	reading.Wait()
	out, served, ours := surveyed{}, 0, 0
	var missing error
	for i, k := range of {
		switch {
		case errs[i] != nil && !unserved(errs[i]):
			return nil, errs[i]
		case errs[i] != nil:
			missing = errs[i]
			results[i] = &found{unseen: "this cluster does not have " + k.qualified()}
		case k.ours:
			served++
		}
		if k.ours {
			ours++
		}
		out[k] = results[i]
	}
	if ours > 0 && served == 0 && missing != nil {
		return nil, missing
	}
	return out, nil
}

// readKind reads a kind where the caller may: everywhere, else in the namespace of the context.
func (c *cluster) readKind(ctx context.Context, k *kind) (*found, error) {
	out := &found{}
	if k.namespaced && c.chosen {
		out.namespace = c.namespace
	}
	err := c.listStanding(ctx, k, out)
	if apierrors.IsForbidden(err) && k.namespaced && !c.chosen {
		out.namespace = c.namespace
		out.unseen = "you may list " + k.plural + " in namespace " + c.namespace + " only"
		err = c.listStanding(ctx, k, out)
	}
	if apierrors.IsForbidden(err) {
		out.unseen = "you may not list " + k.plural
		if k.namespaced {
			out.unseen += " in namespace " + c.namespace
		}
		return out, nil
	}
	return out, err
}

func (c *cluster) listStanding(ctx context.Context, k *kind, out *found) error {
	page := k.list()
	return c.listAll(ctx, page, func() {
		out.version = page.GetResourceVersion()
		for _, object := range itemsOf(page) {
			out.standing = append(out.standing, standingOf(k, object))
		}
	}, out.namespace)
}

// itemsOf returns the objects of a list.
func itemsOf(list client.ObjectList) []client.Object {
	var out []client.Object
	// It fails only for what is no list.
	_ = apimeta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok {
			out = append(out, object)
		}
		return nil
	})
	return out
}

// sum puts together what was read.
func (s surveyed) sum(of []*kind) *survey {
	out := &survey{Objects: []*standing{}}
	for _, k := range of {
		read := s[k]
		if read.unseen != "" {
			out.Unseen = append(out.Unseen, read.unseen)
		}
		if read.standing == nil {
			continue
		}
		count := &tally{Kind: k.gvk.Kind, All: len(read.standing), of: k}
		for _, each := range read.standing {
			if each.how == moodGood {
				count.Ready++
			}
		}
		out.Kinds = append(out.Kinds, count)
		out.Objects = append(out.Objects, read.standing...)
	}
	slices.SortFunc(out.Objects, worstFirst)
	return out
}

// blind reports whether none of the kinds could be listed, so that nothing is known.
func (s surveyed) blind() bool {
	for _, read := range s {
		if read.unseen == "" || read.version != "" {
			return false
		}
	}
	return true
}

// unready counts the objects that are not ready.
func (s *survey) unready() int {
	count := 0
	for _, each := range s.Objects {
		if each.how != moodGood {
			count++
		}
	}
	return count
}
