// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// model is what a machine should be, as simply as can be said.
type model struct {
	running   bool
	suspended bool
	ran       bool
	size      machine.Resources
}

func (m model) state() machine.State {
	switch {
	case m.suspended:
		return machine.StatePaused
	case m.running:
		return machine.StateRunning
	case m.ran:
		return machine.StateStopped
	default:
		return machine.StateCreated
	}
}

// walk is a random sequence of calls on a host, with a model of what should come of them.
type walk struct {
	host     *simulated.Host
	driver   machine.Driver
	dice     *rand.Rand
	capacity machine.Resources
	machines map[int]*model
}

// left returns what the host has for machine n, without what that one has.
func (w *walk) left(n int) machine.Resources {
	out := w.capacity
	for other, m := range w.machines {
		if other != n {
			out.MilliCPU -= m.size.MilliCPU
			out.MemoryBytes -= m.size.MemoryBytes
		}
	}
	return out
}

// step makes one call and returns what it was, what it returned, and what it should have.
func (w *walk) step(t *testing.T) (call string, got, want error) {
	t.Helper()
	n := w.dice.IntN(6)
	m, size := w.machines[n], machine.Resources{MilliCPU: w.dice.Int64N(6) * 500, MemoryBytes: w.dice.Int64N(6) << 30}
	left := w.left(n)
	fits := size.MilliCPU <= left.MilliCPU && size.MemoryBytes <= left.MemoryBytes
	missing := func() error {
		if m == nil {
			return machine.ErrNotFound
		}
		return nil
	}
	switch w.dice.IntN(8) {
	case 0:
		one := spec(n)
		one.Resources = size
		_, got = w.driver.Create(t.Context(), one)
		switch {
		case m != nil:
		case fits:
			w.machines[n] = &model{size: size}
		default:
			want = machine.ErrNoCapacity
		}
		return "create", got, want
	case 1:
		if m != nil {
			m.running, m.suspended, m.ran = true, false, true
		}
		return "start", w.driver.Start(t.Context(), identity(n)), missing()
	case 2:
		if m != nil {
			m.running, m.suspended = false, false
		}
		return "stop", w.driver.Stop(t.Context(), identity(n), machine.PowerOff{Mode: machine.Soft}), missing()
	case 3:
		want = missing()
		if want == nil && !fits {
			want = machine.ErrNoCapacity
		}
		if want == nil {
			m.size = size
		}
		return "resize", w.driver.Resize(t.Context(), identity(n), size), want
	case 4:
		delete(w.machines, n)
		return "delete", w.driver.Delete(t.Context(), identity(n), machine.PowerOff{Mode: machine.TrySoft}), nil
	case 5:
		if w.host.Kill(identity(n)) {
			m.running, m.suspended = false, false
		}
		return "kill", nil, nil
	case 6:
		want = missing()
		if want == nil && !m.running {
			want = machine.ErrOff
		}
		if want == nil {
			m.suspended = true
		}
		return "suspend", w.driver.Suspend(t.Context(), identity(n)), want
	default:
		w.host.Remove(identity(n))
		delete(w.machines, n)
		return "remove", nil, nil
	}
}

// TestRandomLives holds the host against the model after every step.
func TestRandomLives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		capacity := machine.Resources{MilliCPU: 6000, MemoryBytes: 12 << 30}
		host := simulated.NewHost(simulated.Script{Capacity: capacity, Images: []string{"nginx:1.17.4"}})
		w := &walk{
			host: host, driver: host.Open(), dice: rand.New(rand.NewPCG(seed, 3)), capacity: capacity, machines: map[int]*model{},
		}
		for i := range 300 {
			call, got, want := w.step(t)
			if !errors.Is(got, want) {
				t.Fatalf("seed %d, step %d: %s returned %v, want %v", seed, i, call, got, want)
			}
			if diff := cmp.Diff(w.expected(), w.seen(t)); diff != "" {
				t.Fatalf("seed %d, step %d: after %s (-want +got):\n%s", seed, i, call, diff)
			}
		}
	}
}

func (w *walk) expected() map[string]string {
	out := map[string]string{}
	for n, m := range w.machines {
		out[identity(n).UID] = fmt.Sprint(m.state(), m.size)
	}
	return out
}

func (w *walk) seen(t *testing.T) map[string]string {
	t.Helper()
	list, err := w.driver.List(t.Context(), "here")
	must(t, err)
	out := map[string]string{}
	for _, observed := range list {
		out[observed.UID] = fmt.Sprint(observed.State, observed.Resources)
	}
	return out
}

// FuzzParseEndpoint wants every endpoint to be refused with an error or to give a host that answers.
func FuzzParseEndpoint(f *testing.F) {
	for _, seed := range []string{
		"simulated://", "simulated://?cpu=64&memory=256Gi&latency=20ms", "simulated://?fail.create=0.5&seed=1", "simulated://?live=none&load=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, endpoint string) {
		script, err := simulated.ParseEndpoint(endpoint)
		if err != nil {
			return
		}
		script.Latency, script.Faults = nil, nil
		info, err := simulated.NewHost(script).Open().Info(t.Context())
		must(t, err)
		if info.Capacity.MilliCPU <= 0 || info.Capacity.MemoryBytes <= 0 || info.Capacity.RootDiskBytes <= 0 {
			t.Fatalf("%q gives a host without %+v", endpoint, info.Capacity)
		}
	})
}
