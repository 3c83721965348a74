// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/utils/clock"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Environment variables of a machine that say how it behaves.
const (
	// EnvLoad is the share of its CPU limit that the machine uses, from 0 to 1, evenly. Default: the load of the script, which
	// varies over time.
	EnvLoad = "SIMULATE_LOAD"
	// EnvIgnoreStop makes the machine ignore a soft stop if it is true.
	EnvIgnoreStop = "SIMULATE_IGNORE_STOP"
	// EnvExitAfter is a duration like 30s, after which the machine powers itself off.
	EnvExitAfter = "SIMULATE_EXIT_AFTER"
	// EnvExitCode is the exit code of that. Default: 0.
	EnvExitCode = "SIMULATE_EXIT_CODE"
)

// Exit codes like those of a container.
const (
	killedExitCode  = 137
	stoppedExitCode = 0
)

// behaviour is what the environment of a machine asks for.
type behaviour struct {
	load       *float64
	ignoreStop bool
	exitAfter  time.Duration
	exitCode   int32
}

func parseBehaviour(env []machine.EnvVar) (behaviour, error) {
	var out behaviour
	for _, variable := range env {
		var err error
		switch variable.Name {
		case EnvLoad:
			var load float64
			load, err = strconv.ParseFloat(variable.Value, 64)
			if !(load >= 0 && load <= 1) {
				err = strconv.ErrRange
			}
			out.load = &load
		case EnvIgnoreStop:
			out.ignoreStop, err = strconv.ParseBool(variable.Value)
		case EnvExitAfter:
			if out.exitAfter, err = time.ParseDuration(variable.Value); out.exitAfter < 0 {
				err = strconv.ErrRange
			}
		case EnvExitCode:
			var code int64
			code, err = strconv.ParseInt(variable.Value, 10, 32)
			out.exitCode = int32(code)
		}
		if err != nil {
			return out, fmt.Errorf("%w: environment variable %s has an invalid value", machine.ErrInvalid, variable.Name)
		}
	}
	return out, nil
}

// guest is a machine of a host. The host's lock guards it. A foreign machine has no identity.
type guest struct {
	id, name  string
	spec      machine.Spec // with the current resources
	behaviour behaviour
	disks     []string
	clock     clock.PassiveClock

	state                            machine.State
	createdAt, startedAt, finishedAt time.Time
	exitCode                         *int32
	cause                            string
	boots                            int
	// off is closed when the machine powers off.
	off chan struct{}
	// expired says that the machine would have powered itself off while it was suspended.
	expired bool

	meter meter
	// printed is what was written for the machine.
	printed *printout
	// console is the one that was opened last.
	console *console
}

func (g *guest) running() bool {
	return g.state == machine.StateRunning || g.state == machine.StateStopping
}

// on reports whether the machine has a memory: it runs, or is suspended.
func (g *guest) on() bool { return g.running() || g.state == machine.StatePaused }

// start powers the machine on.
func (g *guest) start(load float64) {
	g.boots++
	g.state, g.startedAt, g.finishedAt = machine.StateRunning, g.clock.Now(), time.Time{}
	g.exitCode, g.cause = nil, ""
	g.off, g.expired = make(chan struct{}), false
	g.meter = newMeter(g.spec.UID, load, g.behaviour.load, g.cores(), g.startedAt)
	g.printed.add(true, "simulated machine: powered on at %s, boot %d", stamp(g.startedAt), g.boots)
}

// suspend stops the processors of a machine that runs.
func (g *guest) suspend() {
	g.state = machine.StatePaused
	g.meter.change(0, g.clock.Now())
}

// resume lets a suspended machine go on where it was.
func (g *guest) resume() {
	g.state = machine.StateRunning
	g.meter.change(g.cores(), g.clock.Now())
}

// halt powers the machine off.
func (g *guest) halt(exitCode int32, cause string) {
	g.state, g.finishedAt = machine.StateStopped, g.clock.Now()
	g.exitCode, g.cause = &exitCode, cause
	g.printed.add(false, "simulated machine: powered off at %s, with exit code %d", stamp(g.finishedAt), exitCode)
	close(g.off)
}

// stamp is a time as it is printed.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// resize changes the resources of the machine.
func (g *guest) resize(to machine.Resources) {
	g.spec.Resources = to
	if g.running() {
		g.meter.change(g.cores(), g.clock.Now())
	}
}

// cores is the CPU limit in processors, one if there is none.
func (g *guest) cores() float64 {
	if g.spec.Resources.MilliCPU == 0 {
		return 1
	}
	return float64(g.spec.Resources.MilliCPU) / 1000
}

func (g *guest) observe() machine.Observed {
	out := machine.Observed{
		Identity:   g.spec.Identity,
		ID:         g.id,
		NativeName: g.name,
		State:      g.state,
		SpecHash:   g.spec.Hash,
		Resources:  g.spec.Resources,
		CreatedAt:  g.createdAt,
		StartedAt:  g.startedAt,
		FinishedAt: g.finishedAt,
		Cause:      g.cause,
		Disks:      g.disks,
	}
	if g.exitCode != nil {
		out.ExitCode = new(*g.exitCode)
	}
	return out
}

// listed is the machine as a list shows it while it hangs.
func (g *guest) listed() machine.Observed {
	return machine.Observed{Identity: g.spec.Identity, ID: g.id, NativeName: g.name, Silent: true, State: machine.StateUnknown}
}

// unlimitedMemory is what a machine without a memory limit uses.
const unlimitedMemory = 128 << 20

func (g *guest) sample(now time.Time) machine.Sample {
	memory := int64(unlimitedMemory)
	if limit := g.spec.Resources.MemoryBytes; limit > 0 {
		memory = limit * 3 / 10
	}
	return machine.Sample{
		At:          now,
		Boot:        g.id + "/" + strconv.Itoa(g.boots),
		CPU:         g.meter.read(now),
		MemoryBytes: memory,
		Limits:      g.spec.Resources,
	}
}

// meter is a CPU counter: the integral over time of a load that oscillates around its mean.
type meter struct {
	load, swing, phase, cores float64
	begin, since              time.Time
	// spent is the CPU time until since. last is the last reading: rounding must not turn the counter back.
	spent, last time.Duration
}

// A load that is not exact oscillates by up to half, with a period of ten minutes.
const (
	period   = 10 * time.Minute
	maxSwing = 0.5
)

func newMeter(uid string, mean float64, exact *float64, cores float64, now time.Time) meter {
	m := meter{load: mean, cores: cores, begin: now, since: now}
	if exact != nil {
		m.load = *exact
		return m
	}
	// The peak never exceeds the limit, and machines peak at different times.
	m.swing = min(maxSwing, 1/m.load-1)
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid)) // never fails
	m.phase = 2 * math.Pi * float64(hash.Sum32()) / math.MaxUint32
	return m
}

// read returns the CPU time used since the start.
func (m *meter) read(now time.Time) time.Duration {
	busy := m.integral(now) - m.integral(m.since)
	m.last = max(m.last, m.spent+time.Duration(busy*m.load*m.cores*float64(time.Second)))
	return m.last
}

// change continues with another number of processors.
func (m *meter) change(cores float64, now time.Time) {
	m.spent = m.read(now)
	m.cores, m.since = cores, now
}

// integral of 1 + swing × sin(…) since the start, in seconds.
func (m *meter) integral(now time.Time) float64 {
	t, circle := now.Sub(m.begin).Seconds(), 2*math.Pi/period.Seconds()
	return t - m.swing/circle*(math.Cos(circle*t+m.phase)-math.Cos(m.phase))
}

// uids returns the sorted UIDs of the machines of an installation.
func uids(guests map[string]*guest) []string {
	out := make([]string, 0, len(guests))
	for uid := range guests {
		out = append(out, uid)
	}
	slices.Sort(out)
	return out
}
