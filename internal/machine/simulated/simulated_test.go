// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// identity of the n-th machine of a test.
func identity(n int) machine.Identity {
	name := fmt.Sprintf("vm-%04d", n)
	return machine.Identity{Installation: "here", UID: fmt.Sprintf("%08d-uid", n), Namespace: "default", Name: name}
}

func spec(n int, env ...machine.EnvVar) machine.Spec {
	return machine.Spec{
		Identity:  identity(n),
		Hash:      "hash",
		Resources: machine.Resources{MilliCPU: 2000, MemoryBytes: 4e9},
		Image:     machine.Image{Name: "nginx:1.17.4", PullPolicy: machine.PullIfNotPresent},
		Env:       env,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run makes the machine and starts it.
func run(t *testing.T, driver machine.Driver, spec machine.Spec) {
	t.Helper()
	must(t, driver.Prepare(t.Context(), spec))
	_, err := driver.Create(t.Context(), spec)
	must(t, err)
	must(t, driver.Start(t.Context(), spec.Identity))
}

// pass lets time pass inside a bubble of synctest.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("the test is over")
	case <-time.After(d):
	}
}

func get(t *testing.T, driver machine.Driver, n int) machine.Observed {
	t.Helper()
	observed, err := driver.Get(t.Context(), identity(n))
	must(t, err)
	return observed
}

func TestUsageFollowsTheClock(t *testing.T) {
	t.Parallel()
	env := func(load string) machine.EnvVar { return machine.EnvVar{Name: simulated.EnvLoad, Value: load} }
	for name, c := range map[string]struct {
		env        []machine.EnvVar
		least, top float64
	}{
		"a machine that works uses all of its limit": {[]machine.EnvVar{env("1")}, 100, 100},
		"half a load is half of the limit":           {[]machine.EnvVar{env("0.5")}, 50, 50},
		"an idle machine uses nothing":               {[]machine.EnvVar{env("0")}, 0, 0},
		"any other swings around the script's load":  {nil, 10, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				driver := simulated.NewHost(simulated.Script{Load: 0.2}).Open()
				run(t, driver, spec(1, c.env...))
				for range 100 {
					before := stats(t, driver)[identity(1).UID]
					pass(t, 7*time.Second)
					usage, known := machine.Measure(before, stats(t, driver)[identity(1).UID], machine.Resources{})
					const rounding = 0.001
					if !known || usage.CPUPercent < c.least-rounding || usage.CPUPercent > c.top+rounding {
						t.Fatalf("usage is %+v, want from %v to %v percent of the CPU limit", usage, c.least, c.top)
					}
					if usage.MemoryPercent != 30 {
						t.Fatalf("memory is %v percent, want 30", usage.MemoryPercent)
					}
				}
			})
		})
	}
}

func stats(t *testing.T, driver machine.Driver) map[string]machine.Sample {
	t.Helper()
	all, err := driver.Stats(t.Context(), "here")
	must(t, err)
	return all
}

func TestCounterGoesOnThroughAResize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		driver := simulated.NewHost(simulated.Script{}).Open()
		run(t, driver, spec(1, machine.EnvVar{Name: simulated.EnvLoad, Value: "1"}))
		pass(t, 10*time.Second)
		must(t, driver.Resize(t.Context(), identity(1), machine.Resources{MilliCPU: 4000, MemoryBytes: 4e9}))
		pass(t, 10*time.Second)
		sample := stats(t, driver)[identity(1).UID]
		if want := 60 * time.Second; (sample.CPU - want).Abs() > time.Microsecond {
			t.Errorf("10 s of two and 10 s of four processors are %s, want %s", sample.CPU, want)
		}
	})
}

func TestMachineGoesOffByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		driver := simulated.NewHost(simulated.Script{}).Open()
		events, err := driver.Watch(t.Context(), "here")
		must(t, err)
		begin := time.Now()
		run(t, driver, spec(1,
			machine.EnvVar{Name: simulated.EnvExitAfter, Value: "30s"},
			machine.EnvVar{Name: simulated.EnvExitCode, Value: "3"},
		))
		for get(t, driver, 1).State == machine.StateRunning {
			<-events
		}
		got := get(t, driver, 1)
		if got.State != machine.StateStopped || got.ExitCode == nil || *got.ExitCode != 3 {
			t.Errorf("the machine is %+v, want it stopped with exit code 3", got)
		}
		if ran := got.FinishedAt.Sub(begin); ran != 30*time.Second {
			t.Errorf("it ran for %s, want 30s", ran)
		}
	})
}

func TestEarlierRunDoesNotEndALaterOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		driver := simulated.NewHost(simulated.Script{}).Open()
		run(t, driver, spec(1, machine.EnvVar{Name: simulated.EnvExitAfter, Value: "30s"}))
		pass(t, 20*time.Second)
		must(t, driver.Stop(t.Context(), identity(1), machine.PowerOff{Mode: machine.Hard}))
		must(t, driver.Start(t.Context(), identity(1)))
		pass(t, 20*time.Second)
		if got := get(t, driver, 1); got.State != machine.StateRunning {
			t.Errorf("the machine is %s 20 s after its second start, want it to run for 30 s", got.State)
		}
	})
}

func TestCapacityIsOfAllMachines(t *testing.T) {
	t.Parallel()
	driver := simulated.NewHost(simulated.Script{Capacity: machine.Resources{MilliCPU: 5000}}).Open()
	run(t, driver, spec(1))
	run(t, driver, spec(2))
	_, err := driver.Create(t.Context(), spec(3))
	if !errors.Is(err, machine.ErrNoCapacity) {
		t.Errorf("a third machine with two CPUs of five: %v, want %v", err, machine.ErrNoCapacity)
	}
	to := machine.Resources{MilliCPU: 4000, MemoryBytes: 4e9}
	if err := driver.Resize(t.Context(), identity(1), to); !errors.Is(err, machine.ErrNoCapacity) {
		t.Errorf("two CPUs more of one that is left: %v, want %v", err, machine.ErrNoCapacity)
	}
	must(t, driver.Delete(t.Context(), identity(2), machine.PowerOff{Mode: machine.Hard}))
	must(t, driver.Resize(t.Context(), identity(1), machine.Resources{MilliCPU: 3000, MemoryBytes: 4e9}))
	run(t, driver, spec(3))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	create := func(driver machine.Driver, n int) func(context.Context) error {
		return func(ctx context.Context) error { _, err := driver.Create(ctx, spec(n)); return err }
	}
	for name, c := range map[string]struct {
		fault simulated.Fault
		want  []error // of one call after another, nil for success
		made  int
	}{
		"a call fails every time": {
			simulated.Fault{Call: simulated.CallCreate, Err: machine.ErrBusy},
			[]error{machine.ErrBusy, machine.ErrBusy, machine.ErrBusy},
			0,
		},
		"a call fails twice": {
			simulated.Fault{Call: simulated.CallCreate, Err: machine.ErrBusy, Times: 2},
			[]error{machine.ErrBusy, machine.ErrBusy, nil},
			1,
		},
		"a call fails from the second time on": {
			simulated.Fault{Call: simulated.CallCreate, Err: machine.ErrBusy, Skip: 1},
			[]error{nil, machine.ErrBusy},
			1,
		},
		"a late fault does the work": {
			simulated.Fault{Call: simulated.CallCreate, Err: machine.ErrUnreachable, Late: true, Times: 1},
			[]error{machine.ErrUnreachable},
			1,
		},
		"a call that hangs ends with its context": {
			simulated.Fault{Call: simulated.CallCreate, Hang: true},
			[]error{context.DeadlineExceeded},
			0,
		},
		"other calls are not meant": {
			simulated.Fault{Call: simulated.CallStart, Err: machine.ErrBusy},
			[]error{nil},
			1,
		},
		"other machines are not meant": {
			simulated.Fault{UID: "somebody", Err: machine.ErrBusy},
			[]error{nil},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				host := simulated.NewHost(simulated.Script{Images: []string{"nginx:1.17.4"}, Faults: []simulated.Fault{c.fault}})
				driver := host.Open()
				for i, want := range c.want {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					err := create(driver, 1)(ctx)
					cancel()
					if !errors.Is(err, want) {
						t.Errorf("call %d returned %v, want %v", i+1, err, want)
					}
				}
				host.Heal()
				list, err := driver.List(t.Context(), "here")
				must(t, err)
				if len(list) != c.made {
					t.Errorf("there are %d machines, want %d", len(list), c.made)
				}
			})
		})
	}
}

func TestShareOfCallsFails(t *testing.T) {
	t.Parallel()
	outcomes := func() string {
		driver := simulated.NewHost(simulated.Script{
			Seed: 7, Faults: []simulated.Fault{{Call: simulated.CallInfo, Share: 0.25}},
		}).Open()
		var out strings.Builder
		for range 1000 {
			if _, err := driver.Info(t.Context()); err != nil {
				out.WriteByte('x')
			} else {
				out.WriteByte('.')
			}
		}
		return out.String()
	}
	once := outcomes()
	if failed := strings.Count(once, "x"); failed < 200 || failed > 300 {
		t.Errorf("%d of 1000 calls failed, want about 250", failed)
	}
	if again := outcomes(); again != once {
		t.Error("the same seed made other faults")
	}
}

func TestEnvironmentIsChecked(t *testing.T) {
	t.Parallel()
	for name, variable := range map[string]machine.EnvVar{
		"load above one":     {Name: simulated.EnvLoad, Value: "1.5"},
		"load in words":      {Name: simulated.EnvLoad, Value: "much"},
		"load of no number":  {Name: simulated.EnvLoad, Value: "NaN"},
		"time without unit":  {Name: simulated.EnvExitAfter, Value: "30"},
		"time before now":    {Name: simulated.EnvExitAfter, Value: "-30s"},
		"code in words":      {Name: simulated.EnvExitCode, Value: "one"},
		"neither yes nor no": {Name: simulated.EnvIgnoreStop, Value: "perhaps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driver := simulated.NewHost(simulated.Script{Images: []string{"nginx:1.17.4"}}).Open()
			if _, err := driver.Create(t.Context(), spec(1, variable)); !errors.Is(err, machine.ErrInvalid) {
				t.Errorf("Create: %v, want %v", err, machine.ErrInvalid)
			}
		})
	}
}

func TestThousandAtOnce(t *testing.T) {
	t.Parallel()
	const many = 1000
	host := simulated.NewHost(simulated.Script{Capacity: machine.Resources{MilliCPU: many * 2000, MemoryBytes: many * 4e9}})
	driver := host.Open()
	errs := make([]error, many)
	var group sync.WaitGroup
	for n := range many {
		group.Go(func() {
			one := spec(n)
			errs[n] = driver.Prepare(t.Context(), one)
			if errs[n] == nil {
				_, errs[n] = driver.Create(t.Context(), one)
			}
			if errs[n] == nil {
				errs[n] = driver.Start(t.Context(), one.Identity)
			}
		})
	}
	group.Wait()
	must(t, errors.Join(errs...))
	list, err := driver.List(t.Context(), "here")
	must(t, err)
	for n, got := range list {
		if got.UID != identity(n).UID || got.State != machine.StateRunning {
			t.Fatalf("machine %d is %+v", n, got)
		}
	}
	if len(list) != many || len(stats(t, driver)) != many {
		t.Errorf("%d machines are listed and %d have counters, want %d", len(list), len(stats(t, driver)), many)
	}
	if _, err := driver.Create(t.Context(), spec(many)); !errors.Is(err, machine.ErrNoCapacity) {
		t.Errorf("one more than fits: %v, want %v", err, machine.ErrNoCapacity)
	}
}

func TestParseEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]simulated.Script{
		"simulated://": {},
		"simulated://?cpu=64&memory=256Gi&rootDisk=1T": {
			Capacity: machine.Resources{MilliCPU: 64_000, MemoryBytes: 256 << 30, RootDiskBytes: 1e12},
		},
		"simulated://?latency=20ms&latency.prepare=2s": {Latency: map[simulated.Call]time.Duration{
			simulated.AnyCall: 20 * time.Millisecond, simulated.CallPrepare: 2 * time.Second,
		}},
		"simulated://?load=0.5&seed=9&fail.create=0.05": {
			Load: 0.5, Seed: 9, Faults: []simulated.Fault{{Call: simulated.CallCreate, Share: 0.05}},
		},
		"simulated://?live=all":    {},
		"simulated://?live=cpu":    {Fixed: simulated.Fixed{Memory: true, RootDisk: true}},
		"simulated://?live=memory": {Fixed: simulated.Fixed{CPU: true, RootDisk: true}},
		"simulated://?live=none":   {Fixed: simulated.Fixed{CPU: true, Memory: true, RootDisk: true}},
	} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			got, err := simulated.ParseEndpoint(endpoint)
			must(t, err)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseEndpointRefuses(t *testing.T) {
	t.Parallel()
	for endpoint, sentences := range map[string][]string{
		"docker://":                         {"must be simulated://"},
		"simulated://host":                  {"must be simulated://"},
		"simulated://?a;b":                  {"must have the form a=1&b=2"},
		"simulated://?cpu=many":             {"cpu=many: must be a quantity like 16 or 64Gi"},
		"simulated://?cpu=-1":               {"cpu=-1: must be a quantity"},
		"simulated://?cpu=1&cpu=2":          {`"cpu" is set 2 times`},
		"simulated://?latency=-1s":          {"latency=-1s: must be a duration like 20ms"},
		"simulated://?latency.think=1s":     {"latency.think=1s: no such call"},
		"simulated://?fail.create=2":        {"fail.create=2: must be a share"},
		"simulated://?fail=0.1":             {"fail=0.1: no such parameter"},
		"simulated://?live=sometimes":       {"live=sometimes: must be all, cpu, memory or none"},
		"simulated://?seed=x&load=2&size=1": {"seed=x", "load=2: must be a share", "size=1: no such parameter"},
	} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			_, err := simulated.ParseEndpoint(endpoint)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, sentence := range sentences {
				if !strings.Contains(err.Error(), sentence) {
					t.Errorf("the error is %q, want %q in it", err, sentence)
				}
			}
		})
	}
}

func BenchmarkThousandMachines(b *testing.B) {
	const many = 1000
	driver := simulated.NewHost(simulated.Script{
		Capacity: machine.Resources{MilliCPU: many * 2000, MemoryBytes: many * 4e9}, Images: []string{"nginx:1.17.4"},
	}).Open()
	for n := range many {
		if _, err := driver.Create(b.Context(), spec(n)); err != nil {
			b.Fatal(err)
		}
		if err := driver.Start(b.Context(), identity(n)); err != nil {
			b.Fatal(err)
		}
	}
	for name, call := range map[string]func() error{
		"List":  func() error { _, err := driver.List(b.Context(), "here"); return err },
		"Stats": func() error { _, err := driver.Stats(b.Context(), "here"); return err },
		"Get":   func() error { _, err := driver.Get(b.Context(), identity(500)); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
