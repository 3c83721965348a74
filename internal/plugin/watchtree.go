// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// growAfter is the least time between two readings of a tree: a pool can have thousands of nodes.
const growAfter = time.Second

// grown is a tree as it was read, and what to watch for its next change.
type grown struct {
	root   *branch
	object client.Object
	sights []*sight
}

// watchTree draws the tree again when something in it stands otherwise, until the context ends or the object is gone.
func (p *plugin) watchTree(ctx context.Context, reached *cluster, of target) error {
	view := &screen{streams: &p.Streams}
	defer view.leave()
	next, err := reached.growNow(ctx, of)
	for err == nil {
		p.showUntilItChanges(ctx, reached, view, next)
		gone := false
		err = p.persist(ctx, view.lose, func() (err error) {
			next, err = reached.growNow(ctx, of)
			gone = apierrors.IsNotFound(err)
			if gone {
				return nil
			}
			return err
		})
		if gone {
			view.show(fmt.Sprintf("%s/%s  Gone\n", of.singular(), of.name))
			return nil
		}
	}
	return unlessLeft(ctx, err)
}

// growNow reads the tree of an object, and remembers what it has looked at.
func (c *cluster) growNow(ctx context.Context, of target) (*grown, error) {
	remembering := *c
	out := &grown{}
	remembering.sights = &out.sights
	version, err := remembering.beforeReading(ctx, of.kind, c.within(of.kind), of.name)
	if err != nil {
		return nil, err
	}
	if out.object, err = remembering.read(ctx, of); err != nil {
		return nil, err
	}
	remembering.sawOne(of.kind, version, out.object.GetNamespace(), of.name, out.object)
	out.root, err = remembering.grow(ctx, of.kind, out.object)
	return out, err
}

// showUntilItChanges shows a tree until something in it stands otherwise. Ages grow meanwhile.
func (p *plugin) showUntilItChanges(ctx context.Context, reached *cluster, view *screen, tree *grown) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed, began := make(chan struct{}, 1), time.NewTimer(growAfter)
	defer began.Stop()
	for _, each := range tree.sights {
		go reached.awaitOther(watching, each, changed)
	}
	ages := p.ages()
	defer ages.Stop()
	for {
		var text bytes.Buffer
		p.drawTree(&text, tree.root, tree.object)
		view.show(text.String())
		select {
		case <-ctx.Done():
			return
		case <-ages.C:
			continue
		case <-changed:
		}
		select {
		case <-ctx.Done():
		case <-began.C:
		}
		return
	}
}

// awaitOther tells when something that was seen stands otherwise, or when it cannot be watched.
func (c *cluster) awaitOther(ctx context.Context, of *sight, changed chan<- struct{}) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	other := false
	c.eachChange(inner, of.kind, of.options, func(object client.Object, gone bool) {
		if of.isOther(object, gone) {
			other = true
			stop()
		}
	})
	if !other {
		_ = pause(ctx, rereadAfter) // the API server ends watches, and some callers may not watch
	}
	select {
	case changed <- struct{}{}:
	default:
	}
}
