// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// snapshot writes everything of the scopes, in events of bounded size. The last one of each kind says so, and the last one of all
// carries the id from which the stream goes on.
func (s *stream) snapshot(of snapshot) error {
	for i := range of.items {
		if s.scopes[i].empty() || !s.wanted[i] {
			continue
		}
		if slices.Contains(of.stale, i) { // whose store begins to work later sends everybody back to a snapshot
			if err := s.denied(i, nil); err != nil {
				return err
			}
			continue
		}
		if err := s.snapshotOf(i, of.items[i]); err != nil {
			return err
		}
	}
	if err := s.id(of.sequence); err != nil {
		return err
	}
	if err := s.tell("snapshot", map[string]any{"done": true}); err != nil {
		return err
	}
	return s.flush()
}

// snapshotOf writes items straight from where they are: five hundred readers who come at once must not each hold a copy.
func (s *stream) snapshotOf(kindIndex int, items []*view.Item) error {
	k := &s.g.kinds[kindIndex]
	head := fmt.Appendf(nil, "event: snapshot\ndata: {\"kind\":%q,\"items\":[", k.plural)
	if err := s.write(head); err != nil {
		return err
	}
	written := 0
	for _, item := range items {
		if !s.scopes[kindIndex].admits(scopeKey(k, item)) {
			continue
		}
		separator := ","
		switch {
		case written == 0:
			separator = ""
		case written+len(item.JSON) > snapshotBytes:
			separator, written = "],\"more\":true}\n\n"+string(head), 0
		}
		if err := s.write([]byte(separator)); err != nil {
			return err
		}
		if err := s.write(item.JSON); err != nil {
			return err
		}
		written += len(item.JSON)
	}
	return s.write([]byte("],\"more\":false}\n\n"))
}

// recheck asks again who the caller is and what he may see. It returns true when the stream has to end. An API server that does not
// answer takes nothing from anybody: until it does, the stream stays as it is and brings nothing new.
func (s *stream) recheck(ctx context.Context) (end bool, err error) {
	valid, noAnswer := s.g.identity.valid(ctx, s.who)
	if noAnswer == nil && !valid {
		return true, s.tell("expired", struct{}{})
	}
	var now scopes
	if noAnswer == nil {
		now, noAnswer = s.scope(ctx)
	}
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	if s.doubt = noAnswer != nil; s.doubt {
		return false, nil
	}
	hash := now.hash()
	if hash == s.hash {
		return false, nil
	}
	before := s.scopes
	s.scopes, s.hash = now, hash
	nothing := true
	for i := range now {
		nothing = nothing && now[i].empty()
		if err := s.tellLost(i, before[i], now[i]); err != nil {
			return true, err
		}
	}
	of := s.g.hub.renew(s.reader, now)
	if nothing {
		return true, nil
	}
	// What was in the queue is gone, so everybody begins anew; rights change seldom.
	if err := s.resync(); err != nil {
		return true, err
	}
	return false, s.snapshot(of)
}

// tellLost says what of a kind may no longer be seen.
func (s *stream) tellLost(kindIndex int, before, now scope) error {
	if before.empty() || now.all {
		return nil
	}
	if before.all || now.empty() {
		return s.denied(kindIndex, nil)
	}
	var lost []string
	for _, namespace := range names(before) {
		if !now.admits(namespace) {
			lost = append(lost, namespace)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return s.denied(kindIndex, lost)
}
