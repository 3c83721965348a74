// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/machine"
	"github.com/windlass-operator/windlass/internal/machine/fleet"
	"github.com/windlass-operator/windlass/internal/machine/simulated"
)

// changed returns of which machines it was told that something has happened.
func changed(y *rig) []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var out []string
	for _, notice := range y.notices {
		if notice.Kind == fleet.MachineChanged {
			out = append(out, notice.Event.Name)
		}
	}
	slices.Sort(out)
	return out
}

// A machine waited for a minute when one look at it had no answer and the host was back before it counted as down.
func TestHostThatAnswersAgainIsToldOf(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simulated.Fault{
		"too slow": {Call: simulated.CallGet, Hang: true, Times: 1},
		"refused":  {Call: simulated.CallGet, Err: machine.ErrUnreachable, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
				synctest.Wait()
				y.hosts["a"].Inject(fault)
				want := []string{testSpec(1).Name}
				if _, err := y.driver(t, "a").Get(t.Context(), testSpec(1).Identity); !errors.Is(err, machine.ErrUnreachable) {
					t.Fatalf("Get: %v, want %v", err, machine.ErrUnreachable)
				}
				pass(t, 3*time.Second)
				if diff := cmp.Diff(want, changed(y)); diff != "" {
					t.Fatalf("told of these machines (-want +got):\n%s", diff)
				}
				if _, err := y.driver(t, "a").Get(t.Context(), testSpec(1).Identity); !errors.Is(err, machine.ErrNotFound) {
					t.Errorf("Get of the host that answers: %v, want %v", err, machine.ErrNotFound)
				}
				pass(t, 10*time.Minute)
				if diff := cmp.Diff(want, changed(y)); diff != "" || slices.Contains(y.told("a"), fleet.HostDown) {
					t.Errorf("told %v", y.told("a"))
				}
			})
		})
	}
}

// A host that refuses a Get has answered. Whoever waits for the machine is told, asks again, and gets the refusal.
func TestHostThatRefusesAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Hang: true, Times: 1})
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Err: machine.ErrNotAllowed})
		_, _ = y.driver(t, "a").Get(t.Context(), testSpec(1).Identity)
		pass(t, 3*time.Second)
		if diff := cmp.Diff([]string{testSpec(1).Name}, changed(y)); diff != "" {
			t.Errorf("told of these machines (-want +got):\n%s", diff)
		}
	})
}

// A machine that hung made its whole host unreachable for a quarter of a minute, again and again.
func TestMachineThatHangsMakesItsHostUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, UID: testSpec(1).UID, Hang: true})
		const says = "host unreachable: no answer to get within 5s: context deadline exceeded" // whether it was asked or not
		for range 20 {
			if took, err := timedGet(t, y, 1); took > 5*time.Second || !errors.Is(err, machine.ErrUnreachable) || err.Error() != says {
				t.Errorf("Get of the machine that hangs took %s and said %q, want %q", took, err, says)
			}
			for other := range 3 {
				if took, err := timedGet(t, y, 2+other); took != 0 || !errors.Is(err, machine.ErrNotFound) {
					t.Errorf("Get of another machine took %s and said %v, want 0s and %v", took, err, machine.ErrNotFound)
				}
			}
			pass(t, 7*time.Second)
		}
		if told := changed(y); len(told) > 0 {
			t.Errorf("it was told of %v", told)
		}
	})
}

// A host that hangs costs two Gets, and answers all others at once.
func TestHostThatHangsRestsAfterTwoMachines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newRig(t, map[string]simulated.Script{"a": {}}, nil)
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Hang: true})
		var got []time.Duration
		for n := range 4 {
			took, err := timedGet(t, y, n)
			if !errors.Is(err, machine.ErrUnreachable) {
				t.Errorf("Get: %v, want %v", err, machine.ErrUnreachable)
			}
			got = append(got, took)
		}
		if diff := cmp.Diff([]time.Duration{5 * time.Second, 5 * time.Second, 0, 0}, got); diff != "" {
			t.Errorf("the Gets took (-want +got):\n%s", diff)
		}
	})
}

// timedGet looks at a machine, and tells how long that took.
func timedGet(t *testing.T, y *rig, n int) (time.Duration, error) {
	t.Helper()
	begin := time.Now()
	_, err := y.driver(t, "a").Get(t.Context(), testSpec(n).Identity)
	return time.Since(begin), err
}

// While a host hangs, nobody is woken for it, and it is asked less and less often.
func TestHostThatHangsIsAskedSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		y := newRig(t, map[string]simulated.Script{"a": {}}, func(options *fleet.Options, _ []machine.Host) {
			options.Measure = func(_, call string, _ time.Duration, _ error) {
				if call == "get" {
					gets++
				}
			}
		})
		synctest.Wait()
		y.hosts["a"].Inject(simulated.Fault{Call: simulated.CallGet, Hang: true})
		for range 3 {
			_, _ = y.driver(t, "a").Get(t.Context(), testSpec(1).Identity)
		}
		pass(t, 10*time.Minute)
		if told := changed(y); len(told) > 0 {
			t.Errorf("it was told of %v while the host hung", told)
		}
		if gets < 10 || gets > 30 {
			t.Errorf("the host was asked %d times in ten minutes, want some twenty", gets)
		}
	})
}
