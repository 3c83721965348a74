// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// TestFleetKeepsTheContract runs the drivers' suite on what callers get, which is not the driver itself.
func TestFleetKeepsTheContract(t *testing.T) {
	t.Parallel()
	host := simulated.NewHost(simulated.Script{})
	f := fleet.New([]machine.Host{{Name: "a", Driver: machine.DriverSimulated}}, fleet.Options{
		Open: func(context.Context, machine.Host) (machine.Driver, error) { return host.Open(), nil },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Start: %v", err)
		}
	})
	await(t, func() bool { return f.Health("a").Err == nil })
	driver, _ := f.Driver("a")
	contract.Run(t, contract.Subject{
		Driver: driver,
		Again: func(t *testing.T) machine.Driver {
			t.Helper()
			again, _ := f.Driver("a")
			return again
		},
		Spec: func(id machine.Identity) machine.Spec {
			return machine.Spec{
				Identity: id, Hash: "hash", Resources: machine.Resources{MilliCPU: 500, MemoryBytes: 64 << 20, RootDiskBytes: 1 << 30},
				Image: machine.Image{Name: "nginx:1.17.4"},
			}
		},
		MissingImage: "missing:1",
		RefusedImage: "refused:1",
		ShortGrace:   10 * time.Millisecond,
		Kill: func(t *testing.T, id machine.Identity) {
			t.Helper()
			if !host.Kill(id) {
				t.Fatal("there is no machine to kill")
			}
		},
		Cut: func(*testing.T) func(*testing.T) {
			host.SetAway(true)
			return func(*testing.T) { host.SetAway(false) }
		},
		Ignore: func(spec machine.Spec) machine.Spec {
			spec.Env = append(spec.Env, machine.EnvVar{Name: simulated.EnvIgnoreStop, Value: "true"})
			return spec
		},
	})
}

// await waits until the check holds.
func await(t *testing.T, check func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !check() {
		select {
		case <-deadline:
			t.Fatal("the host does not come up")
		case <-time.After(time.Millisecond):
		}
	}
}
