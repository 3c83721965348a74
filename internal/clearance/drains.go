// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package clearance

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-operator/windlass/internal/kube"
)

// Drain is one drain of one node: a node may leave a pool, come back and leave it again.
type Drain struct {
	Pool  string
	Node  types.UID
	Start time.Time
}

// Progress is how far a drain has come.
type Progress struct {
	// PodsLeft is the number of pods that have not ended.
	PodsLeft int
	// Blocked are pods whose eviction was refused the last time.
	Blocked []string
	// Refusal is what the API server said about the first of them.
	Refusal string
	// Done is true when the node may leave: no pod is left, or the time is over.
	Done bool
	// TimedOut is true for a drain that is done because its time is over.
	TimedOut bool
}

// Drains passes the progress of drains from the controller that empties nodes to the controller of pools, which writes it into the
// status. What is lost with the process is reported again. The zero value knows of no drain.
type Drains struct {
	// Wakeups wakes the pools whose drains have made progress.
	Wakeups kube.Wakeup

	mu       sync.Mutex
	progress map[Drain]Progress
}

// Report says how far a drain has come, and wakes its pool if that is news.
func (d *Drains) Report(drain Drain, progress Progress) {
	if d.replace(drain, progress) {
		d.Wakeups.Wake(types.NamespacedName{Name: drain.Pool})
	}
}

// Progress returns what was reported last about a drain, and whether anything was.
func (d *Drains) Progress(drain Drain) (Progress, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	progress, reported := d.progress[drain.key()]
	return progress, reported
}

// Keep forgets all drains of the pool but these.
func (d *Drains) Keep(pool string, drains ...Drain) {
	kept := map[Drain]bool{}
	for _, drain := range drains {
		kept[drain.key()] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.progress, func(drain Drain, _ Progress) bool { return drain.Pool == pool && !kept[drain] })
}

func (d *Drains) replace(drain Drain, progress Progress) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, reported := d.progress[drain.key()]
	if reported && before.equal(progress) {
		return false
	}
	if d.progress == nil {
		d.progress = map[Drain]Progress{}
	}
	d.progress[drain.key()] = progress
	return true
}

// key returns the drain with its time as the API has it: in seconds, and of no time zone.
func (d Drain) key() Drain {
	d.Start = time.Unix(d.Start.Unix(), 0).UTC()
	return d
}

func (p Progress) equal(other Progress) bool {
	return p.PodsLeft == other.PodsLeft && p.Done == other.Done && p.TimedOut == other.TimedOut && p.Refusal == other.Refusal &&
		slices.Equal(p.Blocked, other.Blocked)
}
