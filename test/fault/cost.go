// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// costs is the processor time that programs have used, by name. On a machine that is busy with other things it is still what a run
// costs, while the time that a run takes is not.
type costs map[string]time.Duration

// The names of what is not a part of a control plane.
const (
	itself = "campaign"
	// managers are all managers that have ended, and the few other programs that the campaign has started.
	managers = "windlass"
)

// costs returns what everything has used until now, except for managers that run.
func (c *campaign) costs() costs {
	all := costs{itself: used(syscall.RUSAGE_SELF), managers: used(syscall.RUSAGE_CHILDREN)}
	for _, l := range c.lanes {
		for _, name := range components() {
			all[name] += l.cost(name)
		}
	}
	return all
}

// used returns the processor time of this process, or of the programs that it has started and that have ended.
func used(by int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(by, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// since returns what was used since an earlier time.
func (c costs) since(before costs) costs {
	spent := costs{}
	for name, until := range c {
		spent[name] = until - before[name]
	}
	return spent
}

// total is what all programs have used.
func (c costs) total() time.Duration {
	var sum time.Duration
	for _, each := range c {
		sum += each
	}
	return sum
}

// per says what each of so many runs has cost on average, and which programs it was.
func (c costs) per(runs int) string {
	if runs == 0 {
		return "no processor time"
	}
	average := func(whole time.Duration) float64 { return whole.Seconds() / float64(runs) }
	names := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return int(c[b] - c[a]) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %.2f", name, average(c[name]))
	}
	return fmt.Sprintf("%.2f s of processor time for each run (%s)", average(c.total()), strings.Join(parts, ", "))
}

// cost returns what all processes of a part of the control plane have used.
func (l *lane) cost(name string) time.Duration {
	l.counting.Lock()
	defer l.counting.Unlock()
	pid, err := l.componentPID(name)
	if err != nil {
		return l.spent[name]
	}
	return l.spent[name] + rig.CPUTime(pid)
}
