// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// branch is an object in a tree, or many of them in a sentence, and what it owns and uses.
type branch struct {
	*standing

	// Text stands for objects that are not listed one by one.
	Text     string    `json:"text,omitempty"`
	Children []*branch `json:"children,omitempty"`

	how mood
}

func branchOf(s *standing) *branch { return &branch{standing: s, how: s.how} }

// sentence is a branch without an object.
func sentence(how mood, text string, args ...any) *branch {
	return &branch{Text: fmt.Sprintf(text, args...), how: how}
}

// thereOrNot is a branch for something that only has to exist.
func thereOrNot(k, name string, there bool) *branch {
	if there {
		return sentence(moodGood, "%s/%s", k, name)
	}
	return sentence(moodBad, "%s/%s  does not exist", k, name)
}

// one returns the branch of an object without a namespace that another one names.
func (c *cluster) one(ctx context.Context, k *kind, name string) ([]*branch, error) {
	version, err := c.beforeReading(ctx, k, "", name)
	if err != nil {
		return nil, err
	}
	object := k.object()
	switch err := c.Get(ctx, client.ObjectKey{Name: name}, object); {
	case apierrors.IsForbidden(err):
		return []*branch{sentence(moodUnknown, "%s/%s  you may not get it", k.singular(), name)}, nil
	case apierrors.IsNotFound(err):
		c.sawOne(k, version, "", name, nil)
		return []*branch{thereOrNot(k.singular(), name, false)}, nil
	case err != nil:
		return nil, err
	}
	c.sawOne(k, version, "", name, object)
	return []*branch{branchOf(standingOf(k, object))}, nil
}

// hidden is the branch of what the caller may not list.
func hidden(plural string) []*branch {
	return []*branch{sentence(moodUnknown, "%s  you may not list them", plural)}
}

// choose returns the objects of a kind that are wanted, the worst first.
func (c *cluster) choose(
	ctx context.Context, k *kind, namespace string, wanted func(client.Object) bool, more ...client.ListOption,
) ([]*branch, error) {
	var all []*standing
	page := k.list()
	err := c.listAll(ctx, page, func() {
		for _, object := range itemsOf(page) {
			if wanted(object) {
				all = append(all, standingOf(k, object))
			}
		}
	}, namespace, more...)
	if apierrors.IsForbidden(err) {
		return hidden(k.plural), nil
	}
	c.saw(k, page.GetResourceVersion(), namespace, wanted, all, more...)
	slices.SortFunc(all, worstFirst)
	out := make([]*branch, 0, len(all))
	for _, each := range all {
		out = append(out, branchOf(each))
	}
	return out, err
}

// maxReady is how many ready objects a tree lists one by one.
const maxReady = 5

// gathered puts many objects that are ready into one sentence.
func gathered(all []*branch, plural string) []*branch {
	ready := 0
	for _, each := range all {
		if each.how == moodGood {
			ready++
		}
	}
	if ready <= maxReady {
		return all
	}
	out := slices.DeleteFunc(all, func(b *branch) bool { return b.how == moodGood })
	return append(out, sentence(moodGood, "%d %s are ready", ready, plural))
}
