// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// campaign plays scenarios without a fault, then again with each fault that was chosen.
type campaign struct {
	options  options
	progress io.Writer
	programs rig.Programs
	begun    time.Time

	// scratch is where the program is built whose clock can be wrong, and skewed is the program. Both are empty if nobody asked for one.
	scratch, skewed string

	lanes []*lane
	// quota is how many of them may work; nil lets all of them.
	quota *quota
	mutex sync.Mutex
	rows  []*row
	// pace is how the runs with a fault come along.
	pace *pace
	// spent is what the runs with a fault have cost, and restarts is how many control planes were given up.
	spent    costs
	restarts int
}

// row is what became of a scenario.
type row struct {
	scenario *scenario
	baseline *outcome
	// own are the baselines of lanes, for a scenario whose end is another one on each lane.
	own map[*lane]*outcome

	Scenario string   `json:"scenario"`
	Effects  []effect `json:"effects"`
	// Cases is how many faults are possible, not counting Same of them, which are the same as others; Runs is how many were played, and Missed is in how many of these the effect that was
	// to fail did not happen.
	Cases  int `json:"cases"`
	Same   int `json:"same"`
	Runs   int `json:"runs"`
	Missed int `json:"missed"`
	// Slowest is how long the slowest run took to reach the end state.
	Slowest  time.Duration `json:"slowest"`
	Findings []finding     `json:"findings"`
}

// run runs the campaign. An error is one of the campaign; what is wrong with the manager is in the rows.
func (c *campaign) run(ctx context.Context) (err error) {
	c.begun = time.Now()
	if err := c.find(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop(ctx)) }()
	if err := c.buildSkewed(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.scratch)) }()
	c.quota = newQuota(c.options.Lanes, runtime.NumCPU())
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.play(ctx)
}

// buildSkewed builds a manager whose clock can be wrong, if there is something to play with it.
func (c *campaign) buildSkewed(ctx context.Context) (err error) {
	disturbed := slices.ContainsFunc(chosenDisturbances(c.options.Variants), func(d disturbance) bool { return d.skews })
	needed := func(sc scenario) bool { return sc.skews || disturbed && !sc.alone && c.options.Effect == "" }
	if !slices.ContainsFunc(c.options.chosen(), needed) {
		return nil
	}
	if c.scratch, err = os.MkdirTemp("", "windlass-clock-"); err != nil {
		return fmt.Errorf("cannot make a directory for a manager with a wrong clock: %w", err)
	}
	c.tell("building a manager whose clock can be wrong")
	c.skewed, err = buildSkewed(ctx, c.programs.Root, c.scratch, "./cmd/windlass")
	return err
}

// play plays what was chosen on lanes that are there.
func (c *campaign) play(ctx context.Context) error {
	var shared, alone []*row
	for _, sc := range c.options.chosen() {
		if sc.missing != "" {
			c.tell("leaving out %s: %s", sc.name, sc.missing)
			continue
		}
		if sc.skews && c.skewed == "" {
			continue
		}
		r := &row{scenario: &sc, Scenario: sc.name}
		c.rows = append(c.rows, r)
		if sc.alone {
			alone = append(alone, r)
		} else {
			shared = append(shared, r)
		}
	}
	c.tell("playing %d scenarios that are faults of their own, and %d without a fault", len(alone), len(shared))
	kept, stop := context.WithCancel(ctx)
	defer stop()
	var before costs
	defer func() { c.spent = c.costs().since(before) }()
	weigh := sync.OnceFunc(func() {
		before = c.costs()
		if c.quota != nil {
			go c.quota.keep(kept) // not before: scenarios without a fault mostly rest, and say nothing about those with one
		}
	})
	// Some of those that are faults of their own take as long as a hundred others, while those without a fault mostly rest.
	jobs := turns{beside: c.firsts(alone)}
	for _, rows := range c.groups(shared) {
		jobs.groups = append(jobs.groups, group{first: c.firsts(rows), then: func() (all, few []job) {
			weigh()
			return c.faults(rows)
		}})
	}
	if c.quota != nil {
		jobs.admit = c.admit
	}
	c.pace = newPace(time.Now(), len(jobs.groups))
	return inTurn(ctx, c.lanes, jobs)
}

// groups returns the rows of each kind, from which the faults of its scenarios are known. A sample needs all of them.
func (c *campaign) groups(rows []*row) [][]*row {
	if c.options.Sample > 0 {
		return [][]*row{rows}
	}
	var all [][]*row
	for _, r := range rows {
		if last := len(all) - 1; last >= 0 && all[last][0].kind() == r.kind() {
			all[last] = append(all[last], r)
		} else {
			all = append(all, []*row{r})
		}
	}
	return all
}

// firsts returns the jobs that play scenarios without a fault.
func (c *campaign) firsts(rows []*row) (work []job) {
	for _, r := range rows {
		work = append(work, func(ctx context.Context, l *lane) error { return c.playFirst(ctx, l, r) })
	}
	return work
}

// faults returns the jobs that play scenarios with a fault, and those that only few lanes take.
func (c *campaign) faults(rows []*row) (all, few []job) {
	c.mutex.Lock()
	cases := c.cases(rows)
	c.pace.add(len(cases))
	c.mutex.Unlock()
	c.tell("playing %d faults in %d scenarios", len(cases), len(rows))
	for _, one := range cases {
		play := func(ctx context.Context, l *lane) error { return c.playFault(ctx, l, &one) }
		if one.row.scenario.local {
			few = append(few, play)
		} else {
			all = append(all, play)
		}
	}
	return all, few
}

// playFirst plays a scenario without a fault.
func (c *campaign) playFirst(ctx context.Context, l *lane, r *row) error {
	out, err := c.twice(ctx, l, r.Scenario+" without a fault", func() (*outcome, error) {
		return l.play(ctx, r.scenario, nil, nil, c.options.rest(0))
	})
	if err != nil {
		return err
	}
	c.mutex.Lock()
	r.baseline, r.own = out, map[*lane]*outcome{l: out}
	r.Effects = out.Effects
	c.mutex.Unlock()
	return c.note(r, nil, out)
}

// playFault plays a scenario with a fault. A run that the campaign cannot finish twice says nothing about the manager, and must not end all others: it is
// a finding that somebody has to look at.
func (c *campaign) playFault(ctx context.Context, l *lane, one *attempt) error {
	out, err := c.twice(ctx, l, fmt.Sprintf("%s, %s", one.row.Scenario, one), func() (*outcome, error) {
		want, err := c.baseline(ctx, l, one.row)
		if err != nil {
			return nil, err
		}
		return one.play(ctx, l, want)
	})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if broken := c.restart(ctx, l); broken != nil {
			return errors.Join(err, broken)
		}
		out = &outcome{Findings: []finding{{Class: "unplayed", Detail: err.Error()}}}
	}
	return c.note(one.row, one, out)
}

// twice plays, and plays once more on a new control plane if the campaign could not finish the run: a control plane that is broken, or cannot be cleaned up,
// belongs to one run.
func (c *campaign) twice(ctx context.Context, l *lane, name string, play func() (*outcome, error)) (*outcome, error) {
	out, err := play()
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	c.tell("%s: %v: playing it again on a new control plane", name, err)
	if err := c.restart(ctx, l); err != nil {
		return nil, err
	}
	if out, err = play(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// baseline returns the run without a fault that runs on a lane are compared with.
func (c *campaign) baseline(ctx context.Context, l *lane, r *row) (*outcome, error) {
	if !r.scenario.local {
		return r.baseline, nil
	}
	c.mutex.Lock()
	out := r.own[l]
	c.mutex.Unlock()
	if out != nil {
		return out, nil
	}
	out, err := l.play(ctx, r.scenario, nil, nil, c.options.Quiet)
	if err != nil {
		return nil, fmt.Errorf("%s without a fault: %w", r.Scenario, err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	r.own[l] = out
	return out, nil
}

// find finds the programs, and returns an error if one of them has not been built.
func (c *campaign) find() (err error) {
	if c.programs, err = rig.FindPrograms(); err != nil {
		return err
	}
	if c.options.Windlass != "" {
		if c.programs.Windlass, err = filepath.Abs(c.options.Windlass); err != nil {
			return fmt.Errorf("cannot find the program to test: %w", err)
		}
	}
	return rig.CheckBuilt(c.programs.Windlass, c.programs.Devcluster, c.programs.Kubectl)
}

// attempt is one fault in one scenario: at a write, or a disturbance.
type attempt struct {
	row         *row
	fault       *fault
	disturbance *disturbance
	// rest is how long nothing may be written afterwards.
	rest time.Duration
}

// play plays the attempt.
func (a *attempt) play(ctx context.Context, l *lane, want *outcome) (*outcome, error) {
	if a.disturbance == nil {
		return l.play(ctx, a.row.scenario, a.fault, want, a.rest)
	}
	disturbed := a.disturbance.disturb(*a.row.scenario)
	out, err := l.play(ctx, &disturbed, nil, want, a.rest)
	if out != nil {
		out.Struck = true
	}
	return out, err
}

// String says what goes wrong.
func (a *attempt) String() string {
	if a.disturbance != nil {
		return a.disturbance.name
	}
	return fmt.Sprintf("%s at %s", a.fault.Variant.name, a.fault.Effect)
}

// errFirst ends a campaign that has found what it was looking for.
var errFirst = errors.New("this is the first finding")

// note adds an outcome to its row.
func (c *campaign) note(r *row, a *attempt, out *outcome) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if a != nil {
		r.Runs++
		if !out.Struck {
			r.Missed++
		}
		if line := c.pace.step(time.Now(), len(out.Findings)); line != "" {
			c.tell("%s", line)
		}
	}
	r.Slowest = max(r.Slowest, out.Convergence)
	for _, found := range out.Findings {
		found.Scenario, found.Log = r.Scenario, out.Log
		switch {
		case a == nil:
		case a.disturbance != nil:
			found.Variant = a.disturbance.name
		default:
			found.Effect, found.Variant = &a.fault.Effect, a.fault.Variant.name
		}
		r.Findings = append(r.Findings, found)
		found.writeTo(c.progress)
	}
	if c.options.Verbose && a != nil {
		c.tell("%s: %s: %d findings, %s", r.Scenario, a, len(out.Findings), out.Took.Round(100*time.Millisecond))
	}
	if c.options.First && len(out.Findings) > 0 {
		return errFirst
	}
	return nil
}
