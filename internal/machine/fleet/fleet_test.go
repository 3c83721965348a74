// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/placement"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// rig is a fleet of simulated hosts under way, with everything that it has told.
type rig struct {
	*fleet.Fleet

	hosts map[string]*simulated.Host

	mu      sync.Mutex
	notices []fleet.Notice
}

// newRig starts a fleet inside a bubble of synctest. Edit may change how.
func newRig(t *testing.T, scripts map[string]simulated.Script, edit func(*fleet.Options, []machine.Host)) *rig {
	t.Helper()
	y := &rig{hosts: map[string]*simulated.Host{}}
	var hosts []machine.Host
	for name, script := range scripts {
		y.hosts[name] = simulated.NewHost(script)
		hosts = append(hosts, machine.Host{Name: name, Driver: machine.DriverSimulated})
	}
	options := fleet.Options{
		Installation: "here",
		Open: func(_ context.Context, host machine.Host) (machine.Driver, error) {
			return y.hosts[host.Name].Open(), nil
		},
		Notify: func(_ context.Context, notice fleet.Notice) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.notices = append(y.notices, notice)
		},
	}
	if edit != nil {
		edit(&options, hosts)
	}
	y.Fleet = fleet.New(hosts, options)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- y.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Start: %v", err)
		}
	})
	return y
}

// told returns what was told of the host so far, without machines' names.
func (y *rig) told(host string) []fleet.NoticeKind {
	y.mu.Lock()
	defer y.mu.Unlock()
	var out []fleet.NoticeKind
	for _, notice := range y.notices {
		if notice.Host == host {
			out = append(out, notice.Kind)
		}
	}
	return out
}

// driver returns the driver of a host that has to be there.
func (y *rig) driver(t *testing.T, host string) machine.Driver {
	t.Helper()
	driver, ok := y.Driver(host)
	if !ok {
		t.Fatalf("there is no host %q", host)
	}
	return driver
}

func (y *rig) wantHealth(t *testing.T, host string, want error) {
	t.Helper()
	health := y.Health(host)
	if !errors.Is(health.Err, want) || want == nil && health.Err != nil {
		t.Errorf("the health of %s is %v, want %v", host, health.Err, want)
	}
}

// pass lets time pass inside the bubble, and everything settle.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	<-time.After(d)
	synctest.Wait()
}

func testSpec(n int) machine.Spec {
	uid := fmt.Sprintf("uid-%04d", n)
	return machine.Spec{
		Identity: machine.Identity{Installation: "here", UID: uid, Namespace: "default", Name: "vm-" + uid},
		Image:    machine.Image{Name: "nginx:1.17.4"},
	}
}

func TestFleetConnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"b": {}, "a": {Capacity: machine.Resources{MilliCPU: 1000}}}, nil)
		synctest.Wait()
		for _, host := range []string{"a", "b"} {
			y.wantHealth(t, host, nil)
			want := []fleet.NoticeKind{fleet.HostUp, fleet.WatchStarted}
			if diff := cmp.Diff(want, y.told(host)); diff != "" {
				t.Errorf("told of %s (-want +got):\n%s", host, diff)
			}
		}
		states := y.Hosts()
		if len(states) != 2 || states[0].Host.Name != "a" || states[1].Host.Name != "b" {
			t.Fatalf("the hosts are %+v, want a and b", states)
		}
		if cpu := states[0].Capacity().MilliCPU; cpu != 1000 {
			t.Errorf("a has %d millicores, want what it says: 1000", cpu)
		}
	})
}

func TestFleetBeforeItStarts(t *testing.T) {
	t.Parallel()
	f := fleet.New([]machine.Host{{Name: "a"}}, fleet.Options{})
	health := f.Health("a")
	if health.Probed || !errors.Is(health.Err, machine.ErrUnreachable) {
		t.Errorf("a host that nobody has asked is %+v", health)
	}
	driver, ok := f.Driver("a")
	if !ok {
		t.Fatal("there is no host a")
	}
	if _, err := driver.Get(t.Context(), machine.Identity{}); !errors.Is(err, machine.ErrUnreachable) {
		t.Errorf("Get: %v, want %v", err, machine.ErrUnreachable)
	}
}

func TestFleetWithoutTheHost(t *testing.T) {
	t.Parallel()
	f := fleet.New(nil, fleet.Options{})
	if _, ok := f.Driver("a"); ok {
		t.Error("there is a driver of a host that is not configured")
	}
	if health := f.Health("a"); !health.Probed || !errors.Is(health.Err, machine.ErrNoHost) {
		t.Errorf("the host is %+v, want %v", health, machine.ErrNoHost)
	}
}

func TestBadConfigurationIsAProblemInOneLine(t *testing.T) {
	t.Parallel()
	if problem := fleet.New(nil, fleet.Options{}).Problem(); problem != nil {
		t.Errorf("a good configuration has the problem %v", problem)
	}
	problem := fleet.New(nil, fleet.Options{Problem: errors.Join(errors.New("one"), errors.New("two"))}).Problem()
	if !errors.Is(problem, machine.ErrNoHost) || problem.Error() != "host not configured: one; two" {
		t.Errorf("got %v, want %v: one; two", problem, machine.ErrNoHost)
	}
}

func TestHangingHostHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := simulated.Script{Faults: []simulated.Fault{{Hang: true}}}
		y := newRig(t, map[string]simulated.Script{"hangs": hang, "well": {}}, nil)
		synctest.Wait()
		y.wantHealth(t, "well", nil)
		if health := y.Health("hangs"); health.Probed {
			t.Errorf("the host that hangs is known to be %+v before its time is over", health)
		}
		pass(t, time.Minute)
		y.wantHealth(t, "hangs", machine.ErrUnreachable)
		y.wantHealth(t, "hangs", context.DeadlineExceeded)
		y.wantHealth(t, "well", nil)

		// Nobody waits for a host that is known to be down.
		begin := time.Now()
		_, err := y.driver(t, "hangs").List(t.Context(), "here")
		if !errors.Is(err, machine.ErrUnreachable) {
			t.Errorf("List: %v, want %v", err, machine.ErrUnreachable)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("the caller waited for %s", waited)
		}
	})
}

func TestHostGoesAndComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		pass(t, time.Minute)
		up := y.Health("a").Since
		y.hosts["a"].SetAway(true)
		pass(t, time.Minute)
		y.wantHealth(t, "a", machine.ErrUnreachable)
		since := y.Health("a").Since
		if down := since.Sub(up); down <= time.Minute || down >= 2*time.Minute {
			t.Errorf("it is down since %s after it came, want that in its second minute", down)
		}
		pass(t, 10*time.Minute)
		if later := y.Health("a"); !later.Since.Equal(since) || later.Info.Driver == "" {
			t.Errorf("while it is away its health is %+v, want it since %s and with what it last said", later, since)
		}
		y.hosts["a"].SetAway(false)
		pass(t, time.Minute)
		y.wantHealth(t, "a", nil)
		want := []fleet.NoticeKind{
			fleet.HostUp, fleet.WatchStarted, fleet.HostDown, fleet.HostUp, fleet.WatchStarted,
		}
		if diff := cmp.Diff(want, y.told("a")); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestOneLostAnswerTurnsNothingDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallInfo, Times: 1})
		pass(t, 10*time.Minute)
		y.wantHealth(t, "a", nil)
		if told := y.told("a"); slices.Contains(told, fleet.HostDown) {
			t.Errorf("told %v, although only one answer was lost", told)
		}
	})
}

func TestFirstLostAnswerSaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := simulated.Script{Faults: []simulated.Fault{{Call: simulated.CallInfo, Times: 1}}}
		y := newRig(t, map[string]simulated.Script{"a": lost}, nil)
		synctest.Wait()
		if health := y.Health("a"); health.Probed {
			t.Errorf("after one lost answer the host is known to be %+v", health)
		}
		pass(t, 10*time.Second)
		want := []fleet.NoticeKind{fleet.HostUp, fleet.WatchStarted}
		if diff := cmp.Diff(want, y.told("a")); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestHostThatWasNeverThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {Faults: []simulated.Fault{{Err: errors.New("no route")}}}}, nil)
		pass(t, time.Hour)
		if health := y.Health("a"); !health.Probed || !errors.Is(health.Err, machine.ErrUnreachable) {
			t.Errorf("the health is %+v, want %v", health, machine.ErrUnreachable)
		}
		if diff := cmp.Diff([]fleet.NoticeKind{fleet.HostDown}, y.told("a")); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestFailedCallHasTheHostAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) {
			options.ProbeInterval = time.Hour
		})
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Err: machine.ErrUnreachable, Times: 1})
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallInfo, Err: machine.ErrUnreachable})
		if _, err := y.driver(t, "a").Get(t.Context(), machine.Identity{}); !errors.Is(err, machine.ErrUnreachable) {
			t.Fatalf("Get: %v, want %v", err, machine.ErrUnreachable)
		}
		pass(t, 10*time.Second)
		y.wantHealth(t, "a", machine.ErrUnreachable)
	})
}

func TestFleetTellsOfMachines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		driver, spec := y.driver(t, "a"), testSpec(1)
		if err := driver.Prepare(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		if _, err := driver.Create(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		y.mu.Lock()
		defer y.mu.Unlock()
		want := fleet.Notice{Host: "a", Kind: fleet.MachineChanged, Event: machine.Event{
			UID: spec.UID, Namespace: spec.Namespace, Name: spec.Name,
		}}
		if !slices.Contains(y.notices, want) {
			t.Errorf("told %+v, want %+v among it", y.notices, want)
		}
	})
}

func TestBrokenWatchIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {Faults: []simulated.Fault{{Call: simulated.CallWatch, Times: 3}}}}, nil)
		pass(t, time.Minute)
		want := []fleet.NoticeKind{fleet.HostUp, fleet.WatchStarted}
		if diff := cmp.Diff(want, y.told("a")); diff != "" {
			t.Errorf("told after three refused watches (-want +got):\n%s", diff)
		}
		// The host is away for less time than it takes to notice, but the watch has ended.
		y.hosts["a"].SetAway(true)
		y.hosts["a"].SetAway(false)
		pass(t, time.Minute)
		if diff := cmp.Diff(append(want, fleet.WatchStarted), y.told("a")); diff != "" {
			t.Errorf("told after a broken watch (-want +got):\n%s", diff)
		}
	})
}

func TestDriverIsOpenedUntilItCan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) {
			open := options.Open
			options.Open = func(ctx context.Context, host machine.Host) (machine.Driver, error) {
				if attempts++; attempts < 3 {
					return nil, errors.New("the key file is missing")
				}
				return open(ctx, host)
			}
		})
		synctest.Wait()
		y.wantHealth(t, "a", machine.ErrUnreachable)
		pass(t, time.Minute)
		y.wantHealth(t, "a", nil)
		if attempts != 3 {
			t.Errorf("it was opened %d times, want 3", attempts)
		}
	})
}

// TestCallsHaveLimits lets each call hang, and wants it to end when its limit is reached, with the error that says so.
func TestCallsHaveLimits(t *testing.T) {
	t.Parallel()
	limits := fleet.Limits{Get: time.Second, Call: time.Minute, Prepare: 10 * time.Minute}
	soft := machine.PowerOff{Mode: machine.Soft, Grace: time.Hour}
	type do = func(context.Context, machine.Driver) error
	for name, c := range map[string]struct {
		call simulated.Call
		do   do
		want time.Duration
		kind error
	}{
		"a look at one machine is the shortest": {
			simulated.CallGet,
			func(ctx context.Context, d machine.Driver) error {
				_, err := d.Get(ctx, machine.Identity{})
				return err
			},
			limits.Get, machine.ErrUnreachable,
		},
		"a look at all machines": {
			simulated.CallList, func(ctx context.Context, d machine.Driver) error { _, err := d.List(ctx, "here"); return err },
			limits.Call, machine.ErrUnreachable,
		},
		"reading the counters": {
			simulated.CallStats, func(ctx context.Context, d machine.Driver) error { _, err := d.Stats(ctx, "here"); return err },
			limits.Call, machine.ErrUnreachable,
		},
		"establishing a watch": {
			simulated.CallWatch, func(ctx context.Context, d machine.Driver) error { _, err := d.Watch(ctx, "here"); return err },
			limits.Call, machine.ErrUnreachable,
		},
		"creating a machine": {
			simulated.CallCreate,
			func(ctx context.Context, d machine.Driver) error { _, err := d.Create(ctx, testSpec(1)); return err },
			limits.Call, machine.ErrUnreachable,
		},
		"replacing a machine has its grace on top": {
			simulated.CallReplace,
			func(ctx context.Context, d machine.Driver) error {
				_, err := d.Replace(ctx, testSpec(1), soft)
				return err
			},
			limits.Call + soft.Grace, machine.ErrUnreachable,
		},
		"starting a machine": {
			simulated.CallStart, func(ctx context.Context, d machine.Driver) error { return d.Start(ctx, machine.Identity{}) },
			limits.Call, machine.ErrUnreachable,
		},
		"suspending a machine": {
			simulated.CallSuspend, func(ctx context.Context, d machine.Driver) error { return d.Suspend(ctx, machine.Identity{}) },
			limits.Call, machine.ErrUnreachable,
		},
		"resizing a machine": {
			simulated.CallResize,
			func(ctx context.Context, d machine.Driver) error {
				return d.Resize(ctx, machine.Identity{}, machine.Resources{})
			},
			limits.Call, machine.ErrUnreachable,
		},
		"stopping a machine has its grace on top": {
			simulated.CallStop, func(ctx context.Context, d machine.Driver) error { return d.Stop(ctx, machine.Identity{}, soft) },
			limits.Call + soft.Grace, machine.ErrUnreachable,
		},
		"deleting a machine has its grace on top": {
			simulated.CallDelete, func(ctx context.Context, d machine.Driver) error { return d.Delete(ctx, machine.Identity{}, soft) },
			limits.Call + soft.Grace, machine.ErrUnreachable,
		},
		"an image that takes too long does not make the host unreachable": {
			simulated.CallPrepare, func(ctx context.Context, d machine.Driver) error { return d.Prepare(ctx, testSpec(1)) },
			limits.Prepare, machine.ErrImagePull,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) {
					options.Limits = limits
				})
				synctest.Wait()
				y.hosts["a"].Inject(simulated.Fault{Call: c.call, Hang: true})
				begin := time.Now()
				err := c.do(t.Context(), y.driver(t, "a"))
				if took := time.Since(begin); took != c.want {
					t.Errorf("it took %s, want %s", took, c.want)
				}
				if !errors.Is(err, c.kind) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want %v and %v", err, c.kind, context.DeadlineExceeded)
				}
				if unreachable := errors.Is(c.kind, machine.ErrUnreachable); errors.Is(err, machine.ErrUnreachable) != unreachable {
					t.Errorf("got %v, want it to say that the host is unreachable: %v", err, unreachable)
				}
			})
		})
	}
}

func TestDeadlineOfTheCallerIsNotTheHostsFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := y.driver(t, "a").Get(ctx, machine.Identity{})
		if errors.Is(err, machine.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get: %v, want %v and nothing about the host", err, context.DeadlineExceeded)
		}
	})
}

// TestHostThatHangsCostsOneGet wants Gets to fail at once for a while after one that was too slow, and other calls not to.
func TestHostThatHangsCostsOneGet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		driver := y.driver(t, "a")
		get := func() (time.Duration, error) {
			begin := time.Now()
			_, err := driver.Get(t.Context(), machine.Identity{})
			return time.Since(begin), err
		}
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Hang: true, Times: 1})
		if took, err := get(); took != 5*time.Second || !errors.Is(err, machine.ErrUnreachable) {
			t.Errorf("the first Get took %s and said %v, want 5s and %v", took, err, machine.ErrUnreachable)
		}
		if took, err := get(); took != 0 || !errors.Is(err, machine.ErrUnreachable) {
			t.Errorf("the second Get took %s and said %v, want 0s and %v", took, err, machine.ErrUnreachable)
		}
		if _, err := driver.List(t.Context(), "here"); err != nil {
			t.Errorf("List: %v, want it to be made", err)
		}
		pass(t, 15*time.Second)
		if _, err := get(); !errors.Is(err, machine.ErrNotFound) {
			t.Errorf("after the rest Get says %v, want %v", err, machine.ErrNotFound)
		}
	})
}

// TestGetDoesNotWaitForSlowCalls fills the lane of observations and wants a Get to give up within its own limit.
func TestGetDoesNotWaitForSlowCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {
			Latency: map[simulated.Call]time.Duration{simulated.CallList: time.Minute},
		}}, func(_ *fleet.Options, hosts []machine.Host) { hosts[0].MaxCalls = 1 })
		synctest.Wait()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := y.driver(t, "a").List(t.Context(), "here"); err != nil {
				t.Errorf("List: %v", err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		_, err := y.driver(t, "a").Get(t.Context(), machine.Identity{})
		if took := time.Since(begin); took != 5*time.Second || !errors.Is(err, machine.ErrUnreachable) {
			t.Errorf("Get took %s and said %v, want 5s and %v", took, err, machine.ErrUnreachable)
		}
		group.Wait()
	})
}

// crowded counts how many calls it serves at the same time.
type crowded struct {
	machine.Driver

	now, most atomic.Int64
}

func (c *crowded) Start(ctx context.Context, id machine.Identity) error {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for {
		most := c.most.Load()
		if now <= most || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	return c.Driver.Start(ctx, id)
}

func TestHostIsNotCrowded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var driver *crowded
		slow := simulated.Script{
			Images:  []string{"nginx:1.17.4"},
			Latency: map[simulated.Call]time.Duration{simulated.CallStart: time.Minute, simulated.CallPrepare: 30 * time.Minute},
		}
		y := newRig(t, map[string]simulated.Script{"a": slow}, func(options *fleet.Options, hosts []machine.Host) {
			open := options.Open
			options.Open = func(ctx context.Context, host machine.Host) (machine.Driver, error) {
				inner, err := open(ctx, host)
				driver = &crowded{Driver: inner}
				return driver, err
			}
			hosts[0].MaxCalls = 3
		})
		synctest.Wait()
		shared := y.driver(t, "a")
		var group sync.WaitGroup
		for n := range 10 {
			group.Go(func() {
				spec := testSpec(n)
				if _, err := shared.Create(t.Context(), spec); err != nil {
					t.Errorf("Create: %v", err)
				}
				if err := shared.Start(t.Context(), spec.Identity); err != nil {
					t.Errorf("Start: %v", err)
				}
			})
			// Slow images stand in nobody's way.
			group.Go(func() {
				if err := shared.Prepare(t.Context(), testSpec(n)); err != nil {
					t.Errorf("Prepare: %v", err)
				}
			})
		}
		pass(t, time.Second)
		begin := time.Now()
		if _, err := shared.List(t.Context(), "here"); err != nil {
			t.Errorf("List: %v", err)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("a call that only reads waited for %s", waited)
		}
		group.Wait()
		if most := driver.most.Load(); most != 3 {
			t.Errorf("%d machines were started at the same time, want 3", most)
		}
	})
}

// Machines of one namespace that ignored their stops, or whose images came slowly, kept all others from the host for up to an hour.
func TestAttackPatientCallsKeepOthersFromTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {Images: []string{"nginx:1.17.4"}}}, func(_ *fleet.Options, hosts []machine.Host) {
			hosts[0].MaxCalls = 2
		})
		synctest.Wait()
		driver := y.driver(t, "a")
		other := testSpec(9)
		other.Namespace = "other"
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for n := range 2 {
			for _, call := range []simulated.Call{simulated.CallStop, simulated.CallPrepare} {
				y.hosts["a"].Inject(simulated.Fault{Call: call, UID: testSpec(n).UID, Hang: true})
			}
			group.Go(func() {
				_ = driver.Stop(ctx, testSpec(n).Identity, machine.PowerOff{Mode: machine.Soft, Grace: time.Hour})
			})
			group.Go(func() { _ = driver.Prepare(ctx, testSpec(n)) })
		}
		synctest.Wait()
		begin := time.Now()
		if err := driver.Prepare(t.Context(), other); err != nil {
			t.Errorf("Prepare: %v", err)
		}
		if _, err := driver.Create(t.Context(), other); err != nil {
			t.Errorf("Create: %v", err)
		}
		if err := driver.Start(t.Context(), other.Identity); err != nil {
			t.Errorf("Start: %v", err)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("a machine of another namespace waited for %s", waited)
		}
		cancel()
		group.Wait()
	})
}

func TestWaitingForALaneEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {
			Latency: map[simulated.Call]time.Duration{simulated.CallStart: time.Minute},
		}}, func(_ *fleet.Options, hosts []machine.Host) { hosts[0].MaxCalls = 1 })
		synctest.Wait()
		var group sync.WaitGroup
		group.Go(func() {
			if err := y.driver(t, "a").Start(t.Context(), machine.Identity{}); !errors.Is(err, machine.ErrNotFound) {
				t.Errorf("Start: %v, want %v", err, machine.ErrNotFound)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := y.driver(t, "a").Start(ctx, machine.Identity{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Start: %v, want %v", err, context.DeadlineExceeded)
		}
		group.Wait()
	})
}

func TestCallsAreMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[string]time.Duration{}
		y := newRig(t, map[string]simulated.Script{"a": {Latency: map[simulated.Call]time.Duration{
			simulated.CallGet: 3 * time.Second,
		}}}, func(options *fleet.Options, _ []machine.Host) {
			options.Measure = func(host, call string, took time.Duration, err error) {
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, machine.ErrNotFound) {
					got[host+" "+call] = took
				}
			}
		})
		synctest.Wait()
		_, _ = y.driver(t, "a").Get(t.Context(), machine.Identity{})
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff(map[string]time.Duration{"a get": 3 * time.Second}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := simulated.Script{Faults: []simulated.Fault{{Err: errors.New("no route")}}}
		y := newRig(t, map[string]simulated.Script{"a": {}, "b": away}, func(_ *fleet.Options, hosts []machine.Host) {
			for i := range hosts {
				hosts[i].Capacity = machine.Resources{MilliCPU: 8000}
			}
		})
		pass(t, time.Minute)
		allocated := map[string]placement.Allocation{"a": {Resources: machine.Resources{MilliCPU: 500}, Machines: 1}}
		got := y.Candidates(allocated)
		want := []placement.Candidate{
			{
				Name: "a", Driver: machine.DriverSimulated, Allocated: allocated["a"],
				Capacity: machine.Resources{MilliCPU: 8000, MemoryBytes: 256 << 30, RootDiskBytes: 4 << 40},
				Quota:    machine.Resources{MilliCPU: 8000},
			},
			{
				Name: "b", Driver: machine.DriverSimulated, Capacity: machine.Resources{MilliCPU: 8000},
				Quota: machine.Resources{MilliCPU: 8000}, Problem: "host unreachable: simulated info: no route",
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
