// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// busyGarbage and restGarbage are how much garbage may pile up before the collector runs, in percent of what is live (GOGC), while
	// something is applied and at rest.
	busyGarbage, restGarbage = 100, 25
	// A collection that follows the one before within busyInterval is of a busy manager, and one after restInterval of one at rest. Half of
	// the garbage takes half of the time: a manager that has just come to rest must not look busy by that.
	busyInterval, restInterval = 5 * time.Second, 20 * time.Second
)

// collector gives memory back at rest. With the percentage of a busy manager, a manager at rest keeps as much garbage as it has live objects,
// for minutes. What memory saves there costs next to nothing: the collector runs once in restInterval in place of once in two minutes.
type collector struct {
	now     func() time.Time
	set     func(percent int)
	percent int
	last    time.Time // of the last collection
}

// paceCollector lets the collector run by how busy the manager is, unless the environment says how much garbage may pile up.
func paceCollector(now func() time.Time) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c := &collector{now: now, set: func(percent int) { debug.SetGCPercent(percent) }, percent: busyGarbage, last: now()}
	c.await()
}

// await calls collected after the next collection, and after each that follows: the runtime runs the cleanup of an object that nobody refers
// to when it has found that.
func (c *collector) await() {
	// A pointer, because the runtime may put an object without any into one block with objects that stay.
	runtime.AddCleanup(new(*collector), func(c *collector) {
		c.collected()
		c.await()
	}, c)
}

func (c *collector) collected() {
	now := c.now()
	percent := nextPercent(c.percent, now.Sub(c.last))
	c.last = now
	if percent != c.percent {
		c.percent = percent
		c.set(percent)
	}
}

// nextPercent returns how much garbage may pile up until the next collection, by the time since the one before.
func nextPercent(percent int, since time.Duration) int {
	switch {
	case since < busyInterval:
		return busyGarbage
	case since > restInterval:
		return max(restGarbage, percent/2)
	default:
		return percent
	}
}
