// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// settleAfter is how long changes are gathered before they are drawn.
	settleAfter = 100 * time.Millisecond
	// agesAfter is how often a terminal is drawn anew without a change: ages grow, and windows are resized.
	agesAfter = 5 * time.Second
	// aboveRows is what a screen has besides rows.
	aboveRows = 6
)

// change is what has become of a kind, or of one object of it.
type change struct {
	of *kind
	// all has the kind anew; nil for a change of one object.
	all *found
	one *standing
	// gone is true if the object does not exist any more.
	gone bool
	// lost is why the kind cannot be read at present.
	lost string
}

// watchStatus shows how everything stands until the context ends.
func (p *plugin) watchStatus(ctx context.Context, reached *cluster, among []*kind, asked *statusAsked) error {
	read, err := reached.readAll(ctx, among)
	if err != nil {
		return err
	}
	changes := make(chan change)
	for _, k := range among {
		if read[k].version != "" {
			go p.follow(ctx, reached, k, read[k], changes)
		}
	}
	view, told := &screen{streams: &p.Streams}, map[string]string{}
	defer view.leave()
	ages := p.ages()
	defer ages.Stop()
	for {
		text, err := p.redrawn(told, read.sum(among), len(among) == 1, asked)
		if err != nil {
			return err
		}
		if because := read.lost(among); because != "" {
			view.text = text
			view.lose(because)
		} else {
			view.show(text)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ages.C:
			continue
		case one := <-changes:
			read.apply(one)
		}
		read.settle(ctx, changes)
	}
}

// ages tells when to draw a terminal anew. A pipe is told changes only.
func (p *plugin) ages() *time.Ticker {
	out := time.NewTicker(agesAfter)
	if !p.Streams.terminal() {
		out.Stop()
	}
	return out
}

// redrawn returns the text for a screen. A pipe is told what has changed instead.
func (p *plugin) redrawn(told map[string]string, sum *survey, all bool, asked *statusAsked) (string, error) {
	if !p.Streams.terminal() {
		p.tellChanges(sum, told)
		return "", nil
	}
	var text bytes.Buffer
	_, height := p.Streams.Size()
	err := p.drawSurvey(&text, sum, all, *asked.output == formatWide, max(1, height-aboveRows))
	return text.String(), err
}

// tellChanges prints a line for each object that stands otherwise than it was told before. Of nodes that are ready nothing is told at first.
func (p *plugin) tellChanges(sum *survey, told map[string]string) {
	first, seen := len(told) == 0, map[string]bool{}
	for _, each := range sum.Objects {
		key, line := each.key(), each.line()
		seen[key] = true
		if told[key] != line && (!first || each.how != moodGood || each.of.plural != nodesPlural) {
			p.printf("%s\n", line)
		}
		told[key] = line
	}
	for _, key := range slices.Sorted(maps.Keys(told)) {
		if !seen[key] {
			before, _, _ := strings.Cut(told[key], "  ")
			p.printf("%s  Gone\n", before)
			delete(told, key)
		}
	}
}

// line is how an object stands, without times: those change always.
func (s *standing) line() string {
	out := oneLine(s.ref())
	if s.Namespace != "" {
		out += " -n " + s.Namespace
	}
	out += "  " + oneLine(s.State)
	if s.how != moodGood && s.Message != "" {
		out += "  " + oneLine(s.Message)
	}
	return out
}

// settle takes the changes that come within a moment: a rollout changes many objects at once.
func (s surveyed) settle(ctx context.Context, changes <-chan change) {
	timer := time.NewTimer(settleAfter)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case one := <-changes:
			s.apply(one)
		}
	}
}

// apply enters a change.
func (s surveyed) apply(c change) {
	if c.all != nil || c.lost != "" {
		if c.all != nil {
			s[c.of] = c.all
		}
		s[c.of].lost = c.lost
		return
	}
	of := s[c.of]
	at := slices.IndexFunc(of.standing, func(each *standing) bool { return each.key() == c.one.key() })
	switch {
	case at >= 0 && c.gone:
		of.standing = slices.Delete(of.standing, at, at+1)
	case at >= 0:
		of.standing[at] = c.one
	case !c.gone:
		of.standing = append(of.standing, c.one)
	}
}

// lost returns why some of the kinds cannot be read at present, empty if all can.
func (s surveyed) lost(of []*kind) string {
	for _, k := range of {
		if s[k].lost != "" {
			return s[k].lost
		}
	}
	return ""
}

// follow sends what changes of a kind until the context ends. A watch that ends begins anew with a list, as the API server asks for. A caller
// who may not watch is shown what lists show, and some proxies end every watch at once: so lists keep their distance.
func (p *plugin) follow(ctx context.Context, reached *cluster, k *kind, from *found, changes chan<- change) {
	send := func(one change) {
		select {
		case changes <- one:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		distance := time.NewTimer(rereadAfter)
		reached.followOnce(ctx, k, from, send)
		select {
		case <-ctx.Done():
			return
		case <-distance.C:
		}
		err := p.persist(ctx, func(because string) { send(change{of: k, lost: because}) }, func() error {
			next, err := reached.readKind(ctx, k)
			switch {
			case err != nil:
				return err
			case next.unseen != "" && next.unseen != from.unseen: // what may not be seen any more is not gone
				return errors.New(next.unseen)
			}
			from = next
			return nil
		})
		if err == nil {
			send(change{of: k, all: from})
		}
	}
}

// followOnce sends changes until the watch ends.
func (c *cluster) followOnce(ctx context.Context, k *kind, from *found, send func(change)) {
	options := &client.ListOptions{Namespace: from.namespace, Raw: &metav1.ListOptions{ResourceVersion: from.version, AllowWatchBookmarks: true}}
	c.eachChange(ctx, k, options, func(object client.Object, gone bool) { send(change{of: k, one: standingOf(k, object), gone: gone}) })
}

// eachChange calls a function for each change until the watch ends.
func (c *cluster) eachChange(ctx context.Context, k *kind, options *client.ListOptions, do func(object client.Object, gone bool)) {
	watching, err := c.Watch(ctx, k.list(), options)
	if err != nil {
		return // who reads again sees why
	}
	defer watching.Stop()
	for event := range watching.ResultChan() {
		object, ok := event.Object.(client.Object)
		if !ok || event.Type == watch.Error {
			return
		}
		if event.Type != watch.Bookmark {
			do(object, event.Type == watch.Deleted)
		}
	}
}
