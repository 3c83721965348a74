// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reports of progress are the only writes that nobody waits for. All objects of a kind share so many of them a second, which cost the API
// server some 5 % of a core. One object makes them at most once a second, and at least twice a minute.
const (
	progressPerSecond = 10
	soonestProgress   = time.Second
	latestProgress    = 30 * time.Second
)

// spacing returns how far apart the reports of an object are while so many objects are being worked on.
func spacing(objects int) time.Duration {
	return min(max(soonestProgress, time.Duration(objects)*time.Second/progressPerSecond), latestProgress)
}

// pace decides when an object reports that work on it goes on. Its zero value knows of no object. What it knows may be lost: then a
// report comes a moment later.
type pace struct {
	mu sync.Mutex
	// byKey holds the objects that are being worked on, except those that have been silent for long.
	byKey map[client.ObjectKey]progress
	// pruned is when the silent ones were last left out.
	pruned time.Time
}

// progress is what is known of one object that is being worked on.
type progress struct {
	uid types.UID
	// last is when its status was written or, before that, when it had something to report for the first time.
	last time.Time
	// due is when to report, zero if there is nothing. It does not come closer when others are done: then this object soon is as well.
	due time.Time
}

// rest returns how long the object, which has something to report, has to wait with it. 0 means that it is due.
func (p *pace) rest(object client.Object, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prune(now)
	key := client.ObjectKeyFromObject(object)
	known, ok := p.byKey[key]
	if !ok || known.uid != object.GetUID() || known.last.After(now) { // The last, where the clock was set back.
		known = progress{uid: object.GetUID(), last: now}
	}
	if p.byKey == nil {
		p.byKey = make(map[client.ObjectKey]progress)
	}
	p.byKey[key] = known
	if due := known.last.Add(spacing(len(p.byKey))); due.After(known.due) {
		known.due = due
		p.byKey[key] = known
	}
	return max(0, known.due.Sub(now))
}

// prune leaves out the objects that have had nothing to report for long: they do not make others wait.
func (p *pace) prune(now time.Time) {
	if now.Sub(p.pruned) < soonestProgress {
		return
	}
	p.pruned = now
	maps.DeleteFunc(p.byKey, func(_ client.ObjectKey, known progress) bool {
		return known.due.IsZero() && now.Sub(known.last) >= latestProgress
	})
}

// reported says that the object has nothing to report any more. It was reported last at that time, or at an earlier one if that is zero.
func (p *pace) reported(key client.ObjectKey, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.byKey[key]
	if !ok {
		return
	}
	if known.due = (time.Time{}); !at.IsZero() {
		known.last = at
	}
	p.byKey[key] = known
}

// drop forgets an object that is no longer being worked on.
func (p *pace) drop(key client.ObjectKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byKey, key)
}
