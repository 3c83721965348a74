// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/contract"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// defectVariable names the defect that the test process has to show.
const defectVariable = "WINDLASS_CONTRACT_DEFECT"

// noDefect is its value for a driver without a defect.
const noDefect = "none"

// broken is a driver with a defect: one of its methods is replaced.
type broken struct {
	machine.Driver

	get     func(machine.Observed, error) (machine.Observed, error)
	create  func(context.Context, machine.Spec) (machine.Observed, error)
	replace func(context.Context, machine.Spec, machine.PowerOff) (machine.Observed, error)
	start   func(context.Context, machine.Identity) error
	stop    func(context.Context, machine.Identity, machine.PowerOff) error
	suspend func(context.Context, machine.Identity) error
	resize  func(context.Context, machine.Identity, machine.Resources) error
	remove  func(context.Context, machine.Identity, machine.PowerOff) error
	list    func(context.Context, string) ([]machine.Observed, error)
	stats   func(context.Context, string) (map[string]machine.Sample, error)
	watch   func(context.Context, string) (<-chan machine.Event, error)
}

func (b *broken) Get(ctx context.Context, id machine.Identity) (machine.Observed, error) {
	observed, err := b.Driver.Get(ctx, id)
	return b.get(observed, err)
}

func (b *broken) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	return b.create(ctx, spec)
}

func (b *broken) Replace(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
	return b.replace(ctx, spec, how)
}

func (b *broken) Start(ctx context.Context, id machine.Identity) error { return b.start(ctx, id) }

func (b *broken) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return b.stop(ctx, id, how)
}

func (b *broken) Suspend(ctx context.Context, id machine.Identity) error { return b.suspend(ctx, id) }

func (b *broken) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	return b.resize(ctx, id, to)
}

func (b *broken) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	return b.remove(ctx, id, how)
}

func (b *broken) List(ctx context.Context, installation string) ([]machine.Observed, error) {
	return b.list(ctx, installation)
}

func (b *broken) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	return b.stats(ctx, installation)
}

func (b *broken) Watch(ctx context.Context, installation string) (<-chan machine.Event, error) {
	return b.watch(ctx, installation)
}

// defect is something that a driver does wrong, and the case that must fail.
type defect struct {
	noticed string
	make    func(b *broken, inner machine.Driver)
}

func defects() map[string]defect {
	forget := func(observed machine.Observed, err error) (machine.Observed, error) {
		observed.SpecHash = ""
		return observed, err
	}
	lose := func(observed machine.Observed, err error) (machine.Observed, error) {
		if errors.Is(err, machine.ErrUnreachable) {
			err = machine.ErrNotFound
		}
		return observed, err
	}
	return map[string]defect{
		"a hash is lost": {"a_new_machine_is_as_specified", func(b *broken, _ machine.Driver) { b.get = forget }},
		"a host that is away has lost its machines": {"a_host_that_goes_away", func(b *broken, _ machine.Driver) { b.get = lose }},
		"an existing machine is a conflict": {"creating_what_exists_adopts_it", func(b *broken, inner machine.Driver) {
			b.create = func(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
				if _, err := inner.Get(ctx, spec.Identity); err == nil {
					return machine.Observed{}, machine.ErrConflict
				}
				return inner.Create(ctx, spec)
			}
		}},
		"namespaces share names": {"two_namespaces_can_have_machines", func(b *broken, inner machine.Driver) {
			b.create = func(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
				list, err := inner.List(ctx, spec.Installation)
				for _, observed := range list {
					if observed.Name == spec.Name {
						return observed, nil
					}
				}
				if err != nil {
					return machine.Observed{}, err
				}
				return inner.Create(ctx, spec)
			}
		}},
		"starting a running machine is an error": {"starting_a_running_machine_does_nothing", func(b *broken, inner machine.Driver) {
			b.start = func(ctx context.Context, id machine.Identity) error {
				if observed, err := inner.Get(ctx, id); err == nil && observed.State == machine.StateRunning {
					return machine.ErrBusy
				}
				return inner.Start(ctx, id)
			}
		}},
		"every stop pulls the plug": {"a_soft_stop_that_is_not_obeyed_gives_up", func(b *broken, inner machine.Driver) {
			b.stop = func(ctx context.Context, id machine.Identity, _ machine.PowerOff) error {
				return inner.Stop(ctx, id, machine.PowerOff{Mode: machine.Hard})
			}
		}},
		"a stop does not wait": {"a_machine_that_obeys_is_stopped", func(b *broken, _ machine.Driver) {
			b.stop = func(context.Context, machine.Identity, machine.PowerOff) error { return nil }
		}},
		"suspending turns the machine off": {"a_machine_that_runs_is_suspended", func(b *broken, inner machine.Driver) {
			b.suspend = func(ctx context.Context, id machine.Identity) error {
				return inner.Stop(ctx, id, machine.PowerOff{Mode: machine.Hard})
			}
		}},
		"a suspended machine is started again": {"a_machine_that_runs_is_suspended", func(b *broken, inner machine.Driver) {
			b.start = func(ctx context.Context, id machine.Identity) error {
				if observed, err := inner.Get(ctx, id); err == nil && observed.State == machine.StatePaused {
					if err := inner.Stop(ctx, id, machine.PowerOff{Mode: machine.Hard}); err != nil {
						return err
					}
				}
				return inner.Start(ctx, id)
			}
		}},
		"a resize does nothing": {"CPU_grows_and_shrinks", func(b *broken, _ machine.Driver) {
			b.resize = func(context.Context, machine.Identity, machine.Resources) error { return nil }
		}},
		"a root disk is ignored": {"a_root_disk_grows_while", func(b *broken, inner machine.Driver) {
			b.resize = func(ctx context.Context, id machine.Identity, to machine.Resources) error {
				to.RootDiskBytes = 0
				return inner.Resize(ctx, id, to)
			}
		}},
		"a machine is removed before its replacement is made": {"a_size_that_the_host_refuses", func(b *broken, inner machine.Driver) {
			b.replace = func(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
				if err := inner.Delete(ctx, spec.Identity, how); err != nil {
					return machine.Observed{}, err
				}
				return inner.Create(ctx, spec)
			}
		}},
		"deleting a machine that is gone is an error": {"a_machine_that_never_was_is_deleted", func(b *broken, inner machine.Driver) {
			b.remove = func(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
				if _, err := inner.Get(ctx, id); err != nil {
					return err
				}
				return inner.Delete(ctx, id, how)
			}
		}},
		"deleting leaves a machine that is off": {"a_machine_that_runs_is_deleted", func(b *broken, inner machine.Driver) {
			b.remove = func(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
				if err := inner.Stop(ctx, id, how); !errors.Is(err, machine.ErrNotFound) {
					return err
				}
				return nil
			}
		}},
		"machines that are off are not listed": {"machines_in_every_state_are_listed", func(b *broken, inner machine.Driver) {
			b.list = func(ctx context.Context, installation string) ([]machine.Observed, error) {
				all, err := inner.List(ctx, installation)
				var out []machine.Observed
				for _, observed := range all {
					if observed.State == machine.StateRunning {
						out = append(out, observed)
					}
				}
				return out, err
			}
		}},
		"all runs have the same boot": {"counters_restart_with", func(b *broken, inner machine.Driver) {
			b.stats = func(ctx context.Context, installation string) (map[string]machine.Sample, error) {
				all, err := inner.Stats(ctx, installation)
				for uid, sample := range all {
					sample.Boot = "always"
					all[uid] = sample
				}
				return all, err
			}
		}},
		"no events are sent": {"every_step_of_a_life_sends_an_event", func(b *broken, _ machine.Driver) {
			b.watch = func(context.Context, string) (<-chan machine.Event, error) {
				out := make(chan machine.Event)
				close(out)
				return out, nil
			}
		}},
	}
}

// TestOneDefect runs the suite on the driver with the defect that the environment names.
func TestOneDefect(t *testing.T) { //nolint:paralleltest // because it is the only test of its process
	name := os.Getenv(defectVariable)
	if name == "" {
		t.Skip("TestDefectsAreFound runs this in processes of its own")
	}
	host := simulated.NewHost(simulated.Script{})
	inner := host.Open()
	driver := &broken{
		Driver: inner,
		get:    func(observed machine.Observed, err error) (machine.Observed, error) { return observed, err },
		create: inner.Create, replace: inner.Replace, start: inner.Start, stop: inner.Stop, suspend: inner.Suspend,
		resize: inner.Resize, remove: inner.Delete, list: inner.List, stats: inner.Stats, watch: inner.Watch,
	}
	var patience time.Duration
	if d, ok := defects()[name]; ok {
		d.make(driver, inner)
		// No need to wait long for what never comes.
		patience = 3 * time.Second
	}
	contract.Run(t, contract.Subject{
		Driver: driver,
		Spec: func(id machine.Identity) machine.Spec {
			return machine.Spec{
				Identity: id, Hash: "hash", Resources: machine.Resources{MilliCPU: 500, MemoryBytes: 64 << 20, RootDiskBytes: 1 << 30},
				Image: machine.Image{Name: "nginx:1.17.4"},
			}
		},
		Patience:   patience,
		ShortGrace: 10 * time.Millisecond,
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

// TestDefectsAreFound runs the suite on drivers with defects, each in a process of its own because it must fail.
func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(defects()))...) {
		t.Run(cmp.Or(name, noDefect), func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOneDefect$", "-test.v", "-test.parallel=8")
			command.Env = append(os.Environ(), defectVariable+"="+cmp.Or(name, noDefect))
			out, err := command.CombinedOutput()
			if name == "" {
				if err != nil {
					t.Errorf("a driver without defect fails: %v\n%s", err, out)
				}
				return
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "--- FAIL") && strings.Contains(line, "/"+defects()[name].noticed) {
					return
				}
			}
			t.Errorf("the case %q does not fail:\n%s", defects()[name].noticed, out)
		})
	}
}
