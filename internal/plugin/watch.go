// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// rereadAfter is how often a tree is read again, and how long a kind is left alone whose list failed.
	rereadAfter = 2 * time.Second
	// settleAfter is how long changes are gathered before they are drawn.
	settleAfter = 100 * time.Millisecond
	// aboveRows is what a screen has besides rows.
	aboveRows = 6
)

// screen shows a text again and again: in place on a terminal, and in a pipe only the lines that are new.
type screen struct {
	streams *Streams
	shown   []string
}

// show shows the text, unless nothing has changed.
func (s *screen) show(text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if slices.Equal(lines, s.shown) {
		return
	}
	if !s.streams.terminal() {
		for _, line := range lines {
			if !slices.Contains(s.shown, line) {
				_, _ = fmt.Fprintln(s.streams.Out, line)
			}
		}
		s.shown = lines
		return
	}
	var out strings.Builder
	if s.shown == nil {
		out.WriteString("\x1b[2J") // the screen is cleared once; afterwards lines are overwritten, which does not flicker
	}
	out.WriteString("\x1b[H")
	for _, line := range lines {
		out.WriteString(line + "\x1b[K\r\n")
	}
	out.WriteString("\x1b[J")
	_, _ = fmt.Fprint(s.streams.Out, out.String())
	s.shown = lines
}

// every does something now, and again after each interval until the context ends, which is no error.
func every(ctx context.Context, interval time.Duration, do func() error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := do(); err != nil {
			if ctx.Err() != nil {
				return nil // the person has ended it
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// change is what has become of a kind, or of one object of it.
type change struct {
	of *kind
	// all has the kind anew; nil for a change of one object.
	all *found
	one *standing
	// gone is true if the object does not exist any more.
	gone bool
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
			go reached.follow(ctx, k, read[k], changes)
		}
	}
	view, told := &screen{streams: &p.Streams}, map[string]string{}
	for {
		if !p.Streams.terminal() {
			p.tellChanges(read.sum(among), told)
		} else if err := p.redraw(view, read.sum(among), len(among) == 1, asked); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case one := <-changes:
			read.apply(one)
		}
		read.settle(ctx, changes)
	}
}

// redraw draws a screen.
func (p *plugin) redraw(view *screen, sum *survey, all bool, asked *statusAsked) error {
	var text bytes.Buffer
	_, height := p.Streams.Size()
	if err := p.drawSurvey(&text, sum, all, *asked.output == formatWide, max(1, height-aboveRows)); err != nil {
		return err
	}
	view.show(text.String())
	return nil
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
	out := s.ref()
	if s.Namespace != "" {
		out += " -n " + s.Namespace
	}
	out += "  " + s.State
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
	if c.all != nil {
		s[c.of] = c.all
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

// follow sends what changes of a kind until the context ends. A watch that ends begins anew with a list, as the API server asks for.
func (c *cluster) follow(ctx context.Context, k *kind, from *found, changes chan<- change) {
	send := func(one change) {
		select {
		case changes <- one:
		case <-ctx.Done():
		}
	}
	for ctx.Err() == nil {
		c.followOnce(ctx, k, from, send)
		_ = every(ctx, rereadAfter, func() error {
			again, err := c.readKind(ctx, k)
			if err != nil {
				return nil //nolint:nilerr // because the API server may come back, and the screen shows what was last seen
			}
			from = again
			send(change{of: k, all: again})
			return errNotReady // ends the repetition
		})
	}
}

// followOnce sends changes until the watch ends.
func (c *cluster) followOnce(ctx context.Context, k *kind, from *found, send func(change)) {
	watching, err := c.Watch(ctx, k.list(), client.InNamespace(from.namespace), &client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: from.version, AllowWatchBookmarks: true},
	})
	if err != nil {
		return
	}
	defer watching.Stop()
	for event := range watching.ResultChan() {
		object, ok := event.Object.(client.Object)
		if !ok || event.Type == watch.Error {
			return
		}
		if event.Type != watch.Bookmark {
			send(change{of: k, one: standingOf(k, object), gone: event.Type == watch.Deleted})
		}
	}
}
