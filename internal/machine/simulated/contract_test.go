// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated_test

import (
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]simulated.Script{
		"a host that answers at once": {},
		"a host that takes its time":  {Latency: map[simulated.Call]time.Duration{simulated.AnyCall: 2 * time.Millisecond}},
		"a host without live resize":  {Fixed: simulated.Fixed{CPU: true, Memory: true, RootDisk: true}},
		"a host with live CPU only":   {Fixed: simulated.Fixed{Memory: true}},
		"a host that keeps disks":     {Disks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.Run(t, subject(simulated.NewHost(script)))
		})
	}
}

func subject(host *simulated.Host) contract.Subject {
	return contract.Subject{
		Driver: host.Open(),
		Again:  func(*testing.T) machine.Driver { return host.Open() },
		Spec: func(id machine.Identity) machine.Spec {
			return machine.Spec{
				Identity:  id,
				Hash:      "hash-of-" + id.UID,
				Resources: machine.Resources{MilliCPU: 500, MemoryBytes: 64 << 20, RootDiskBytes: 1 << 30},
				Image:     machine.Image{Name: "nginx:1.17.4", PullPolicy: machine.PullIfNotPresent},
			}
		},
		MissingImage: "library/missing:1",
		RefusedImage: "library/refused:1",
		Kill: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if !host.Kill(id) {
				t.Fatal("there is no machine to kill")
			}
		},
		Remove: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if !host.Remove(id) {
				t.Fatal("there is no machine to remove")
			}
		},
		TakeDisks: func(_ *testing.T, id machine.Identity) func(*testing.T) {
			restore := host.TakeDisk(id)
			return func(*testing.T) { restore() }
		},
		Occupy: func(t *testing.T, id machine.Identity) func(*testing.T) {
			t.Helper()
			if !host.Occupy(id.Name) {
				t.Fatal("the name is taken already")
			}
			return func(t *testing.T) {
				t.Helper()
				if !host.Occupied(id.Name) {
					t.Error("the foreign machine is gone")
				}
			}
		},
		Cut: func(*testing.T) func(*testing.T) {
			host.SetAway(true)
			return func(*testing.T) { host.SetAway(false) }
		},
		ShortGrace: 10 * time.Millisecond,
		Ignore: func(spec machine.Spec) machine.Spec {
			spec.Env = append(spec.Env, machine.EnvVar{Name: simulated.EnvIgnoreStop, Value: "true"})
			return spec
		},
		Load: func(spec machine.Spec) machine.Spec {
			spec.Env = append(spec.Env, machine.EnvVar{Name: simulated.EnvLoad, Value: "1"})
			return spec
		},
	}
}
