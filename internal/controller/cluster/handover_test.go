// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestALeaderThatReturnsOverwritesNewerState is about two managers with a --state-dir each. The one that led first came back, took its old
// run for one that nobody had recorded, and stored the state of before the other one's run.
func TestALeaderThatReturnsOverwritesNewerState(t *testing.T) {
	const (
		x = "nodes:\n- {address: 127.0.0.1, role: [etcd]}\n"
		y = "nodes:\n- {address: 127.0.0.1, role: [etcd]}\n- {address: 127.0.0.2, role: [worker]}\n"
	)
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.ConfigPath, c.Spec.Config = "", &clusterprovisionerv1alpha1.ConfigSource{Inline: x}
	})
	holds := func(who, config, state string) {
		t.Helper()
		s.until(who+" has applied the configuration", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(config).Digest })
		s.settled()
		got, err := unpack(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data[keyState+"cluster.rkestate"])
		last, want := s.cluster.Status.LastOperation.ID, upID(s.cluster, mustRead(config).Digest, 1)
		if err != nil || string(got) != state || last != want {
			t.Fatalf("after %s, the state is %q, %v, and the last run %s; want %q and %s", who, got, err, last, state, want)
		}
	}
	apply := func(config string) {
		t.Helper()
		// The status has whole seconds, and no lease changes hands within one.
		began := s.cluster.Status.LastOperation.StartTime.Time
		testkit.Eventually(t, "the second is over", func() bool { return time.Since(began) > time.Second })
		s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Config.Inline = config })
	}
	holds("A", x, "done")
	s.lead("a", "b")
	apply(y)
	holds("B", y, "donedone")
	s.lead("b", "a")
	holds("A's return", y, "donedone")
	apply(x) // A has a run of this name, which ended long ago
	holds("A again", x, "donedonedone")
	s.lead("a", "b")
	apply(y)
	holds("B again", y, "donedonedonedone")
}

// TestALeaderThatReturnsWorksOnItsOldState is about configPath, where the state is beside the user's file, and not in what the first leader forgot: the tool worked
// on the state of before the other one's run, and that replaced the newer copy. A run that had to wait for its slot forgot it, too.
func TestALeaderThatReturnsWorksOnItsOldState(t *testing.T) {
	s := newStage(t)
	s.create()
	state := filepath.Join(s.dir, "cluster.rkestate")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(more string) {
		t.Helper()
		began := s.cluster.Status.LastOperation.StartTime.Time
		testkit.Eventually(t, "the second is over", func() bool { return time.Since(began) > time.Second })
		s.file("cluster.yml", configText+more)
	}
	holds := func(who, more, want string) {
		t.Helper()
		s.until(who+" has applied the file", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(configText+more).Digest })
		s.settled()
		kept, err := unpack(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data[keyState+"cluster.rkestate"])
		beside, errBeside := os.ReadFile(state)
		if err := errors.Join(err, errBeside); err != nil || string(kept) != want || string(beside) != want {
			t.Fatalf("after %s, %q is stored, and %q beside the file (%v); want %q", who, kept, beside, err, want)
		}
	}
	holds("A", "", "done")
	s.lead("a", "b")
	move(state, state+"-a") // the machine of B has a directory of its own
	edit("addons: b\n")
	holds("B", "addons: b\n", "donedone")
	s.lead("b", "a")
	move(state, state+"-b")
	move(state+"-a", state)
	free := s.full()
	edit("addons: c\n")
	s.becomes(status.Reconciling, "True Queued: waiting for a run of another Cluster to end")
	s.pass()
	free()
	holds("A's return", "addons: c\n", "donedonedone")
	// A directory that both share has what the last leader's run left, also where nobody recorded its end.
	s.lead("a", "b")
	edit("addons: d\n")
	holds("B in the same directory", "addons: d\n", "donedonedonedone")
}

// TestARunThatNeverReportedOverwritesNewerState is about a leader that ended, or whose supervisor did, between the request for a run and its record. When it came
// back, nobody knew when that run had begun, and its state was stored over the newer one of the leader in between.
func TestARunThatNeverReportedOverwritesNewerState(t *testing.T) {
	s := newStage(t)
	s.create(inline)
	digest := func(more string) string { return mustRead(configText + more).Digest }
	s.until("A has applied it", func() bool { return s.cluster.Status.AppliedConfigHash == digest("") })
	s.settled()
	run := filepath.Join(s.dir, "root", string(s.cluster.UID), "run")
	if err := errors.Join(os.Remove(filepath.Join(run, "record.json")), os.Remove(filepath.Join(run, "result.json"))); err != nil {
		t.Fatal(err)
	}
	s.lead("a", "b")
	began := s.cluster.Status.LastOperation.StartTime.Time
	testkit.Eventually(t, "the second is over", func() bool { return time.Since(began) > time.Second })
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.Config.Inline = configText + "addons: b\n" })
	s.until("B has applied a change", func() bool { return s.cluster.Status.AppliedConfigHash == digest("addons: b\n") })
	s.settled()
	last := s.cluster.Status.LastOperation.ID
	s.lead("b", "a")
	s.settled()
	state, err := unpack(s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data[keyState+"cluster.rkestate"])
	if err != nil || string(state) != "donedone" || s.cluster.Status.LastOperation.ID != last {
		t.Errorf("the stored state is %q (%v), and the last run %+v; want the state of %s", state, err, s.cluster.Status.LastOperation, last)
	}
}

// TestAStartThatCameToNothingLeavesAnOldState is about a leader whose only start failed when the state was in its place. When it came back, that state counted as
// newer than the copy that the leader in between had stored.
func TestAStartThatCameToNothingLeavesAnOldState(t *testing.T) {
	s := newStage(t)
	s.create()
	beside := filepath.Join(s.dir, "cluster.rkestate")
	applied := func(more string) {
		t.Helper()
		s.until("the file is applied", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(configText+more).Digest })
		s.settled()
	}
	applied("")
	s.lead("a", "b") // B has tried, and left the state of before
	began := s.cluster.Status.LastOperation.StartTime.Time
	testkit.Eventually(t, "the second is over", func() bool { return time.Since(began) > time.Second })
	s.file("stale", "stale")
	if err := os.Chtimes(filepath.Join(s.dir, "stale"), began.Add(-time.Minute), began.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.dir, "stale"), beside); err != nil {
		t.Fatal(err)
	}
	s.file("cluster.yml", configText+"addons: b\n")
	applied("addons: b\n")
	if state, err := os.ReadFile(beside); err != nil || string(state) != "donedone" {
		t.Errorf("the state is %q (%v), want that of the last run and of this one", state, err)
	}
}

// TestTwoLostRunsLoseTheNewestState is about a state that no run could store: the next run was lost as well, and then the state counted as older than that run,
// and the tool was given the copy, without the machines that had been made since.
func TestTwoLostRunsLoseTheNewestState(t *testing.T) {
	const change, made = "addons: b\n", "machines since then "
	lostOnce := func(s *stage) {
		s.file("cluster.yml", configText+change)
		s.stuck(2)
		s.file("cluster.rkestate", made)
		s.tick()
		s.perish("a", "b")
	}
	for name, begins := range map[string]func(*stage){
		"the run that wrote it is lost": lostOnce,
		"the run that wrote it is lost with an earlier version, which notes no run": func(s *stage) {
			lostOnce(s)
			secret := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix)
			delete(secret.Data, keyStateFrom)
			if err := s.Live.Update(s.t.Context(), secret); err != nil {
				s.t.Fatal(err)
			}
		},
		"a person wrote it": func(s *stage) {
			s.tick()
			s.file("cluster.rkestate", made)
			s.file("calls", strings.Repeat("up\n", 2))
			s.tick()
			s.lead("a", "b")
			s.file("cluster.yml", configText+change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
				second := metav1.Duration{Duration: time.Second}
				c.Spec.Retry = clusterprovisionerv1alpha1.Retry{Attempts: 5, Initial: second, Max: second}
			})
			s.until("the file is applied", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(configText).Digest })
			s.settled()
			s.file("up.hangs", "")
			begins(s)
			s.stuck(3)
			s.perish("b", "c")
			s.remove("up.hangs")
			s.until("the change is applied", func() bool { return s.cluster.Status.AppliedConfigHash == mustRead(configText+change).Digest })
			if state, err := os.ReadFile(filepath.Join(s.dir, "cluster.rkestate")); err != nil || string(state) != made+"done" {
				t.Errorf("the tool was given %q (%v), want %q", state, err, made)
			}
		})
	}
}

// stuck runs passes until the tool hangs, called for that often.
func (s *stage) stuck(calls int) {
	s.t.Helper()
	s.until("the tool hangs", func() bool {
		last := s.cluster.Status.LastOperation
		return s.calls() == fmt.Sprintf("%d up", calls) && last != nil && last.EndTime == nil
	})
}

// tick waits until what happens is in another second than the last run.
func (s *stage) tick() {
	s.t.Helper()
	now := time.Now()
	testkit.Eventually(s.t, "the second is over", func() bool { return time.Since(now) > time.Second })
}

// perish makes the machine of one manager end with the run on it, and another manager lead.
func (s *stage) perish(from, to string) {
	s.t.Helper()
	type process struct {
		PID int `json:"pid"`
	}
	var began struct {
		Supervisor process `json:"supervisor"`
		Tool       process `json:"tool"`
	}
	testkit.Eventually(s.t, "the run is recorded", func() bool {
		raw, err := os.ReadFile(filepath.Join(s.dir, "root", string(s.cluster.UID), "run", "record.json"))
		return err == nil && json.Unmarshal(raw, &began) == nil && began.Tool.PID > 0
	})
	if err := errors.Join(syscall.Kill(began.Supervisor.PID, syscall.SIGKILL), syscall.Kill(began.Tool.PID, syscall.SIGKILL)); err != nil {
		s.t.Fatal(err)
	}
	s.lead(from, to)
}

// lead makes the manager of one machine end, and that of another one lead.
func (s *stage) lead(from, to string) {
	s.t.Helper()
	root := filepath.Join(s.dir, "root")
	if err := os.Rename(root, root+"-"+from); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(root+"-"+to, root); err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	s.restart()
}

// TestOutdatedRuns tells the run that another manager has continued from, from the one that nobody could record.
func TestOutdatedRuns(t *testing.T) {
	t.Parallel()
	at := func(s *situation, id string, began time.Time, phase provision.Phase) {
		s.seen.run = &provision.Run{ID: id, Action: provision.Up, Phase: phase, StartedAt: began}
	}
	recordedAtNoon := func(s *situation) {
		ended("up-b-1", "", "", noon.Add(time.Minute))(s)
		s.cluster.Status.LastOperation.StartTime = new(metav1.NewTime(noon))
	}
	for name, test := range map[string]struct {
		changes []change
		want    bool
	}{
		"a run before the last one": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-a-1", noon.Add(-time.Second), provision.Succeeded)
		}}, true},
		"a run before the last one that was interrupted": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-a-1", noon.Add(-time.Second), provision.Interrupted)
		}}, true},
		"a run of the same name before the last one": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-b-1", noon.Add(-time.Second), provision.Succeeded)
		}}, true},
		"a run after the last one, which the manager died before it could record": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-c-1", noon.Add(2*time.Minute), provision.Succeeded)
		}}, false},
		"the last one, in whose second the status is": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-b-1", noon.Add(time.Millisecond), provision.Succeeded)
		}}, false},
		"the last one, whose end nobody recorded, by a clock that is behind": {[]change{recordedAtNoon, func(s *situation) {
			s.cluster.Status.LastOperation.EndTime = nil
			at(s, "up-b-1", noon.Add(-time.Second), provision.Succeeded)
		}}, false},
		"a run that is still under way": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-a-1", noon.Add(-time.Second), provision.Running)
		}}, false},
		"a run whose beginning is not known": {[]change{recordedAtNoon, func(s *situation) {
			at(s, "up-a-1", time.Time{}, provision.Interrupted)
		}}, false},
		"a run before the last one, whose state was lost": {[]change{recordedAtNoon, func(s *situation) {
			s.seen.stored = nil
			at(s, "up-a-1", noon.Add(-time.Second), provision.Succeeded)
		}}, false},
		"no run is here": {[]change{recordedAtNoon, func(s *situation) { s.seen.run = nil }}, true},
		"no run is here, and the state was lost": {[]change{recordedAtNoon, func(s *situation) {
			s.seen.run, s.seen.stored = nil, nil
		}}, false},
		"no run is anywhere": {[]change{func(s *situation) { s.seen.stored = &store{} }}, false},
		"the first run":      {[]change{func(s *situation) { at(s, "up-a-1", noon, provision.Succeeded) }}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := given(test.changes...)
			run, none := s.seen.run, s.seen.run == nil
			if none {
				run = &provision.Run{}
			}
			if got := outdated(s.cluster, s.seen.stored, run, none); got != test.want {
				t.Errorf("it is outdated: %t, want %t", got, test.want)
			}
		})
	}
}

// older is the provisioner of a machine whose last run is from before that of another manager.
type older struct {
	provision.Provisioner

	run provision.Run
}

// Observe implements provision.Provisioner. Nothing else is called.
func (o *older) Observe(context.Context, string) (provision.Run, error) { return o.run, nil }

// TestARunThatAnotherManagerTookWithItIsInterrupted has a run in the status that has not ended, and of which this machine knows nothing: what it has
// is from before, and older than what is stored.
func TestARunThatAnotherManagerTookWithItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := given(applied(textA))
	last := s.cluster.Status.LastOperation
	last.ID, last.StartTime, last.EndTime = "up-b-1", new(metav1.NewTime(noon)), nil
	r := &Reconciler{provisioner: &older{run: provision.Run{ID: "up-a-1", Phase: provision.Succeeded, StartedAt: noon.Add(-time.Hour)}}}
	if err := r.observeRun(t.Context(), s.cluster, &s.seen); err != nil {
		t.Fatal(err)
	}
	run, left := s.seen.run, s.seen.left
	if run == nil || run.ID != "up-b-1" || run.Phase != provision.Interrupted || !run.StartedAt.Equal(noon) || left == nil || len(left.State) > 0 {
		t.Errorf("the run is %+v, and left %+v", run, left)
	}
}
