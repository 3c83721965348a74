// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

// telling is how often the campaign says how far it is.
const telling = time.Minute

// pace is how the runs with a fault come along.
type pace struct {
	begun, told         time.Time
	all, done, findings int
	// unknown is how many groups of scenarios there are whose faults are not known yet.
	unknown int
}

// newPace returns the pace of faults that come from so many groups of scenarios.
func newPace(now time.Time, groups int) *pace { return &pace{begun: now, told: now, unknown: groups} }

// add notes the faults of a group.
func (p *pace) add(faults int) {
	p.all += faults
	p.unknown--
}

// step notes the end of a run. Now and then it returns a line that says how many there were, and how long the others will take if they take
// as long, once it is known how many there are.
func (p *pace) step(now time.Time, findings int) string {
	p.done++
	p.findings += findings
	if now.Sub(p.told) < telling {
		return ""
	}
	p.told = now
	if p.unknown > 0 {
		return fmt.Sprintf("played %d of at least %d faults with %d findings", p.done, p.all, p.findings)
	}
	left := now.Sub(p.begun) / time.Duration(p.done) * time.Duration(p.all-p.done)
	return fmt.Sprintf("played %d of %d faults with %d findings, about %s left", p.done, p.all, p.findings, left.Round(time.Minute))
}

// tell says something to the person who waits, with the time since the beginning.
func (c *campaign) tell(format string, args ...any) {
	fmt.Fprintf(c.progress, "%4ds  %s\n", int(time.Since(c.begun).Seconds()), fmt.Sprintf(format, args...))
}
