// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// weighing is how often the campaign looks whether the processors carry another lane.
	weighing = 20 * time.Second
	// crowded and spare are the shares of idle time below which a lane too many works, and above which one more has room. A lane takes about a
	// tenth of two processors. More than that is between the shares, so that no lane comes and goes for ever.
	crowded, spare = 0.04, 0.20
	// leastPerProcessor is how many lanes work for each processor in any case. The longest scenarios keep two of them, and all processors, busy for a third
	// of a campaign, while the scenarios without a fault mostly rest.
	leastPerProcessor = 3
)

// quota is how many lanes may work: as many as keep the processors busy. Runs mostly wait, so that it takes several lanes for each processor. How many
// depends on the machine. With too many, each run costs up to two and a half times as much, and waits until it counts as stuck.
type quota struct {
	mutex sync.Mutex
	// changed is closed when another number of lanes may work.
	changed chan struct{}
	// now is how many may work, within least and most. peak is how many it has been at most.
	now, least, most, peak int
	// starting is how many control planes are being started, and unsteady is true if one was since the processors were looked at last.
	starting int
	unsteady bool
}

// newQuota returns the quota of so many lanes.
func newQuota(lanes, processors int) *quota {
	least := min(lanes, leastPerProcessor*processors)
	return &quota{changed: make(chan struct{}), now: least, least: least, most: lanes, peak: least}
}

// admits reports whether a lane may work. Lanes are counted from 0.
func (q *quota) admits(lane int) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return lane < q.now
}

// await waits until a lane may work. It returns false if the context ends before.
func (q *quota) await(ctx context.Context, lane int) bool {
	for {
		q.mutex.Lock()
		admitted, changed := lane < q.now, q.changed
		q.mutex.Unlock()
		if admitted {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// whileStarting starts a control plane. What that costs says nothing about how many lanes the processors carry.
func (q *quota) whileStarting(start func() error) error {
	q.count(1)
	defer q.count(-1)
	return start()
}

func (q *quota) count(starting int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.starting += starting
	q.unsteady = true
}

// lower lets no more than so many lanes work from now on.
func (q *quota) lower(most int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.most = max(1, min(q.most, most))
	q.least = min(q.least, q.most)
	q.set(min(q.now, q.most))
}

// weigh lets one lane more or less work, or as many as before, after a time in which the processors had this share of idle time.
func (q *quota) weigh(idle float64) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	unsteady := q.unsteady
	q.unsteady = q.starting > 0
	switch {
	case unsteady:
	case idle < crowded:
		q.set(max(q.least, q.now-1))
	case idle > spare:
		q.set(min(q.most, q.now+1))
	}
}

func (q *quota) set(now int) {
	if now == q.now {
		return
	}
	q.now, q.peak = now, max(q.peak, now)
	close(q.changed)
	q.changed = make(chan struct{})
}

// keep weighs until the context ends. Where the times of the processors cannot be read, the number of lanes stays as it is.
func (q *quota) keep(ctx context.Context) {
	tick := time.NewTicker(weighing)
	defer tick.Stop()
	before, err := readProcessorTimes()
	for err == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var now processorTimes
		if now, err = readProcessorTimes(); err == nil && now.all > before.all {
			q.weigh(float64(now.idle-before.idle) / float64(now.all-before.all))
			before = now
		}
	}
}

// processorTimes are the times of all processors since the machine was started, in ticks of the kernel.
type processorTimes struct{ idle, all uint64 }

// readProcessorTimes reads the first line of /proc/stat, as proc_stat(5) explains it.
func readProcessorTimes() (processorTimes, error) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processorTimes{}, err
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return parseProcessorTimes(line)
}

// parseProcessorTimes sums the times of user, nice, system, idle, iowait, irq, softirq and steal. Those of guests are part of user and nice. A processor
// that waits for a disk is idle.
func parseProcessorTimes(line string) (out processorTimes, err error) {
	const named, idle, iowait, last = 1, 3, 4, 8
	fields := strings.Fields(line)
	if len(fields) < named+last || fields[0] != "cpu" {
		return out, fmt.Errorf("cannot read the times of the processors from %q", line)
	}
	for i, field := range fields[named : named+last] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return out, fmt.Errorf("cannot read the times of the processors from %q: %w", line, err)
		}
		out.all += ticks
		if i == idle || i == iowait {
			out.idle += ticks
		}
	}
	return out, nil
}
