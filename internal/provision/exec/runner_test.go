// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// netDialer dials sockets of this machine.
type netDialer struct{}

func (*netDialer) dial(path string) (net.Conn, error) { return net.Dial("unix", path) } //nolint:noctx // the tool has none

func TestAToolThatWorks(t *testing.T) {
	s := newStage(t)
	s.start(s.part("work", "up-1"))
	run := s.ended()
	if run.Phase != provision.Succeeded || run.Failure != nil || *run.ExitCode != 0 || run.ID != "up-1" || run.Action != provision.Up {
		t.Errorf("the run is %+v", run)
	}
	if want := "[etcd] Building up etcd plane.."; run.Stage != want {
		t.Errorf("the stage is %q, want %q", run.Stage, want)
	}
	if run.StartedAt.IsZero() || run.EndedAt.Before(run.StartedAt) {
		t.Errorf("it ran from %s to %s", run.StartedAt, run.EndedAt)
	}
	got, err := s.Collect(t.Context(), s.part("", "").Place, s.part("", "").Tool)
	if err != nil {
		t.Fatal(err)
	}
	want := provision.Artifacts{
		State: map[string][]byte{"cluster.rkestate": []byte("state")}, Kubeconfig: []byte("kubeconfig"),
		KubeconfigPath: filepath.Join(filepath.Dir(s.config), "kube_config_cluster.yml"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

func TestARunHappensOnce(t *testing.T) {
	s := newStage(t)
	s.start(s.part("hang", "up-1"))
	s.has("hangs")
	s.start(s.part("hang", "up-1"))
	if err := s.Start(t.Context(), s.part("hang", "up-2")); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("a second run ends with %v", err)
	}
	back := s.again()
	if err := back.Start(t.Context(), s.part("hang", "up-1")); err != nil {
		t.Errorf("the same run, started by another manager: %v", err)
	}
	if run, err := back.Observe(t.Context(), "uid-1"); err != nil || run.Phase != provision.Running || run.ID != "up-1" {
		t.Errorf("another manager sees %+v, %v", run, err)
	}
	if err := back.Forget(t.Context(), "uid-1"); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("forgetting a run that is under way: %v", err)
	}
	if err := back.Cancel(t.Context(), "uid-1"); err != nil {
		t.Fatal(err)
	}
	if run := s.ended(); run.Phase != provision.Interrupted {
		t.Errorf("the canceled run is %+v", run)
	}
	s.start(s.part("hang", "up-1"))
	if got := s.calls(); got != 1 {
		t.Errorf("the tool was called %d times, want once", got)
	}
}

func TestFailuresAreTold(t *testing.T) {
	for sentence, tt := range map[string]struct {
		change func(*provision.Request)
		part   string
		reason string
		says   string
		code   int32
	}{
		"an exit code": {part: "fail", reason: clusterprovisionerv1alpha1.ReasonImagePull, says: "cannot pull image rancher/hyperkube", code: 7},
		"a path": {
			part: "refuse", reason: clusterprovisionerv1alpha1.ReasonConfigRefused, says: `cannot use cluster configuration "cluster.yml": nodes[1]`, code: 1,
		},
		"no word at all": {part: "third", reason: clusterprovisionerv1alpha1.ReasonUnknown, says: "exit code 1", code: 1},
		"a signal":       {part: "killed", reason: clusterprovisionerv1alpha1.ReasonUnknown, says: "the tool was killed by a signal (killed): up to here", code: -1},
		"a tool that hangs": {
			part: "hang", reason: clusterprovisionerv1alpha1.ReasonTimeout, says: "the run was stopped after 200ms",
			change: func(r *provision.Request) { r.Timeout = 200 * time.Millisecond }, code: -1,
		},
		"a tool that does not hear": {
			part: "deaf", reason: clusterprovisionerv1alpha1.ReasonTimeout, says: "the run was stopped after 200ms",
			change: func(r *provision.Request) { r.Timeout, r.Grace = 200*time.Millisecond, 100*time.Millisecond }, code: -1,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			wanted := s.part(tt.part, "up-1")
			if tt.change != nil {
				tt.change(&wanted)
			}
			s.start(wanted)
			run := s.ended()
			if run.Phase != provision.Failed || run.Failure.Reason != tt.reason || !strings.Contains(run.Failure.Message, tt.says) {
				t.Errorf("the run is %s: %+v", run.Phase, run.Failure)
			}
			if tt.code >= 0 && (run.ExitCode == nil || *run.ExitCode != tt.code) {
				t.Errorf("the exit code is %v, want %d", run.ExitCode, tt.code)
			}
			s.until("nothing of it is left", func() bool { return len(s.traces()) == 0 })
		})
	}
}

func TestATryThatFailsIsRepeated(t *testing.T) {
	s := newStage(t)
	for attempt := range 3 {
		s.start(s.part("third", "up-"+strconv.Itoa(attempt)))
		run := s.ended()
		if want := attempt == 2; (run.Phase == provision.Succeeded) != want {
			t.Errorf("attempt %d is %s", attempt, run.Phase)
		}
	}
}

func TestATimeoutLeavesTimeToSaveTheState(t *testing.T) {
	s := newStage(t)
	s.start(s.part("obey", "up-1", func(r *provision.Request) { r.Timeout = 10 * time.Second }))
	s.has("hangs")
	if run := s.ended(); run.Failure == nil || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonTimeout {
		t.Errorf("the run is %+v", run)
	}
	if got := s.has("cluster.rkestate"); got != "saved at the last moment" {
		t.Errorf("the state is %q", got)
	}
}

// TestARunIsBusyWhileSomebodyLooks holds that a run starts although somebody looks at its lock at that moment.
func TestARunIsBusyWhileSomebodyLooks(t *testing.T) {
	s := newStage(t)
	s.start(s.part("work", "up-1"))
	s.ended()
	files, err := s.of("uid-1")
	if err != nil {
		t.Fatal(err)
	}
	look, err := take(files.lock(), syscall.LOCK_SH)
	if err != nil || look == nil {
		t.Fatalf("the lock is %v, %v", look, err)
	}
	time.AfterFunc(15*time.Millisecond, func() { _ = look.Close() })
	s.start(s.part("work", "up-2"))
	if run := s.ended(); run.ID != "up-2" || run.Phase != provision.Succeeded {
		t.Errorf("the run is %+v", run)
	}
}

func TestAKilledSupervisorIsAnInterruption(t *testing.T) {
	s := newStage(t)
	s.start(s.part("hang", "up-1"))
	s.has("hangs")
	begun := s.record()
	if err := syscall.Kill(begun.Supervisor.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run := s.ended()
	if run.Phase != provision.Interrupted || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonInterrupted || !run.Failure.Retryable {
		t.Errorf("the run is %+v", run)
	}
	s.until("the tool has gone with its supervisor", func() bool { return !begun.Tool.alive() })
	s.start(s.part("work", "up-2"))
	if run := s.ended(); run.Phase != provision.Succeeded {
		t.Errorf("the next run is %+v", run)
	}
}

// TestASupervisorThatDiesAtOnceHoldsUpNobody: more secrets than a pipe takes waited for a reader that was gone, and every call for every Cluster
// waited with them.
func TestASupervisorThatDiesAtOnceHoldsUpNobody(t *testing.T) {
	s := newStage(t)
	broken := s.again()
	broken.options.Supervisor = []string{"/bin/true"}
	started := make(chan error, 1)
	go func() {
		started <- broken.Start(t.Context(), s.part("work", "up-1", func(wanted *provision.Request) {
			wanted.Secrets = []string{strings.Repeat("x", 128<<10)}
		}))
	}()
	var err error
	s.until("the start has ended", func() bool {
		select {
		case err = <-started:
			return true
		default:
			return false
		}
	})
	if err == nil || !strings.Contains(err.Error(), "cannot send the secrets to the supervisor") {
		t.Errorf("the start ended with %v", err)
	}
	s.until("the run has ended", func() bool {
		run, err := broken.Observe(t.Context(), "uid-1")
		return err == nil && run.Phase == provision.Interrupted
	})
}

func TestDaemonsStayOnlyWhereTheyAreTheCluster(t *testing.T) {
	for sentence, tt := range map[string]struct {
		part  string
		keeps bool
		stays bool
	}{
		"a tool that is not expected to leave any":   {"daemon", false, false},
		"a tool whose daemons are the cluster":       {"daemon", true, true},
		"a tool that fails, whatever it has started": {"failing-daemon", true, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newStage(t)
			s.start(s.part(tt.part, "up-1", func(r *provision.Request) { r.Tool.KeepsDaemons = tt.keeps }))
			s.ended()
			pid, err := strconv.Atoi(s.has("daemon"))
			if err != nil {
				t.Fatal(err)
			}
			daemon := identify(pid)
			if !tt.stays {
				s.until("the daemon is gone", func() bool { return !daemon.alive() })
				return
			}
			if !daemon.alive() {
				t.Error("the daemon is gone")
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNothingSecretIsLogged(t *testing.T) {
	s := newStage(t)
	s.start(s.part("leak", "up-1", func(r *provision.Request) { r.Secrets = []string{"the-known-secret"} }))
	run := s.ended()
	for _, secret := range []string{"MIIEpAIBAAKCAQEA", "hunter22", "the-known-secret", "abcdefghijkl"} {
		raw, err := os.ReadFile(layout{dir: filepath.Join(s.root, "uid-1")}.log())
		if err != nil || strings.Contains(run.Log, secret) || strings.Contains(string(raw), secret) {
			t.Errorf("%s shows (%v):\n%s", secret, err, run.Log)
		}
	}
	if !strings.Contains(run.Log, "no end of line") {
		t.Errorf("what has no end of line is lost:\n%s", run.Log)
	}
}

func TestALogIsBounded(t *testing.T) {
	s := newStage(t)
	s.start(s.part("flood", "up-1"))
	run := s.ended()
	if len(run.Log) > provision.MaxLog || run.Stage != "the last line" {
		t.Errorf("the log has %d bytes, the stage is %q", len(run.Log), run.Stage)
	}
	total := int64(0)
	for _, name := range []string{"log", "log.1"} {
		if info, err := os.Stat(filepath.Join(s.root, "uid-1", "run", name)); err == nil {
			total += info.Size()
		}
	}
	if total > 2*maxLog {
		t.Errorf("the log takes %d bytes", total)
	}
	var ended result
	if _, err := read(layout{dir: filepath.Join(s.root, "uid-1")}.result(), &ended); err != nil || ended.Dropped == 0 {
		t.Errorf("dropped are %d bytes, %v", ended.Dropped, err)
	}
}

func TestSkippedMachinesAreTold(t *testing.T) {
	s := newStage(t)
	s.start(s.part("skip", "remove-1", func(r *provision.Request) { r.Action = provision.Remove }))
	run := s.ended()
	if diff := cmp.Diff([]string{"127.0.0.9"}, run.Skipped); run.Phase != provision.Succeeded || diff != "" {
		t.Errorf("the run is %s; skipped (-want +got):\n%s", run.Phase, diff)
	}
}

func TestAMissingToolIsAnAnswer(t *testing.T) {
	s := newStage(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("no program"), fileMode); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"no-such-tool", "/no/such/tool", plain} {
		err := s.Start(t.Context(), s.part("work", "up-1", func(r *provision.Request) { r.Tool.Up[0] = program }))
		if !errors.Is(err, provision.ErrToolMissing) || !strings.Contains(err.Error(), program) {
			t.Errorf("%s: %v", program, err)
		}
	}
	if _, err := s.Observe(t.Context(), "uid-1"); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("a run that never began is %v", err)
	}
	if _, err := s.Version(t.Context(), provision.Tool{Version: []string{"no-such-tool"}}); !errors.Is(err, provision.ErrToolMissing) {
		t.Errorf("its version is %v", err)
	}
}

func TestTheLimitHoldsAcrossClusters(t *testing.T) {
	s := newStage(t)
	other := func(name string) func(*provision.Request) {
		return func(r *provision.Request) {
			r.Cluster, r.ConfigPath = name, filepath.Join(t.TempDir(), "cluster.yml")
		}
	}
	s.start(s.part("hang", "up-1"))
	s.start(s.part("hang", "up-1", other("uid-2")))
	if err := s.Start(t.Context(), s.part("work", "up-1", other("uid-3"))); !errors.Is(err, provision.ErrLimit) {
		t.Errorf("a third run: %v", err)
	}
	s.until("the second run is told to end", func() bool { return s.Cancel(t.Context(), "uid-2") == nil })
	s.until("there is room again", func() bool { return s.Start(t.Context(), s.part("work", "up-1", other("uid-3"))) == nil })
	s.until("all others have ended", func() bool {
		for _, cluster := range []string{"uid-2", "uid-3"} {
			if run, err := s.Observe(t.Context(), cluster); err != nil || run.Phase == provision.Running {
				return false
			}
		}
		return true
	})
}

// TestTwoClustersWorkOnOneFileAtOnce is about Clusters that were created together, and did not know of each other yet.
func TestTwoClustersWorkOnOneFileAtOnce(t *testing.T) {
	s := newStage(t)
	link := filepath.Join(filepath.Dir(s.config), "link.yml")
	if err := os.Symlink(s.config, link); err != nil {
		t.Fatal(err)
	}
	other := func(r *provision.Request) { r.Cluster = "uid-2" }
	s.start(s.part("hang", "up-1"))
	s.has("hangs")
	for _, path := range []string{s.config, link} {
		if err := s.Start(t.Context(), s.part("work", "up-1", other, func(r *provision.Request) { r.ConfigPath = path })); !errors.Is(err, provision.ErrBusy) {
			t.Errorf("another cluster's run on %q: %v", path, err)
		}
	}
	s.start(s.part("work", "up-1", other, func(r *provision.Request) { r.ConfigPath, r.Config = "", []byte("nodes: []\n") }))
	s.until("the run beside it has ended", func() bool {
		run, err := s.Observe(t.Context(), "uid-2")
		return err == nil && run.Phase == provision.Succeeded
	})
	s.until("the first run is told to end", func() bool { return s.Cancel(t.Context(), "uid-1") == nil })
	s.ended()
	s.start(s.part("work", "up-2", other))
	s.until("the second run has ended", func() bool {
		run, err := s.Observe(t.Context(), "uid-2")
		return err == nil && run.ID == "up-2" && run.Phase == provision.Succeeded
	})
}

func TestStateIsRestoredWhereItIsLost(t *testing.T) {
	s := newStage(t)
	restore := func(r *provision.Request) {
		r.ConfigPath, r.Config = "", []byte("nodes: []\n")
		r.State = map[string][]byte{"cluster.rkestate": []byte("from the Secret"), "../escape.rkestate": []byte("no")}
	}
	wanted := s.part("skip", "up-1", restore)
	s.start(wanted)
	s.ended()
	state := func() string {
		got, err := s.Collect(t.Context(), wanted.Place, wanted.Tool)
		if err != nil {
			t.Fatal(err)
		}
		return string(got.State["cluster.rkestate"])
	}
	if got := state(); got != "from the Secret" {
		t.Errorf("the state is %q", got)
	}
	work := filepath.Join(s.root, "uid-1", "work")
	if err := os.WriteFile(filepath.Join(work, "cluster.rkestate"), []byte("newer"), fileMode); err != nil {
		t.Fatal(err)
	}
	s.start(s.part("skip", "up-2", restore))
	s.ended()
	if got := state(); got != "newer" {
		t.Errorf("the state is %q, want what the tool left", got)
	}
	if _, err := os.Stat(filepath.Join(s.root, "uid-1", "escape.rkestate")); err == nil {
		t.Error("a name led out of the directory")
	}
	info, err := os.Stat(filepath.Join(work, "cluster.yml"))
	if err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("the configuration is %v, %v", info, err)
	}
	if err := s.Forget(t.Context(), "uid-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.root, "uid-1")); err == nil {
		t.Error("the directory is still there")
	}
}

// TestAStartThatCameToNothingLeavesAnOldState is about a start that failed when the stored state was in the working directory. Another manager ran the tool, and
// the tool was then given the old state, which counted as newer than the copy.
func TestAStartThatCameToNothingLeavesAnOldState(t *testing.T) {
	for name, fails := range map[string]func(*provision.Request){
		"the API server is away": func(wanted *provision.Request) {
			wanted.Before = func(context.Context) error { return errors.New("no answer") }
		},
		"the tool is not installed": func(wanted *provision.Request) { wanted.Tool.Up = []string{"no-such-tool"} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			with := func(state string) func(*provision.Request) {
				return func(wanted *provision.Request) {
					wanted.ConfigPath, wanted.Config, wanted.State = "", []byte("nodes: []\n"), map[string][]byte{"cluster.rkestate": []byte(state)}
				}
			}
			if err := s.Start(t.Context(), s.part("environment", "up-1", with("old"), fails)); err == nil {
				t.Fatal("it has started")
			}
			s.start(s.part("environment", "up-2", with("new")))
			s.ended()
			got, err := os.ReadFile(filepath.Join(layout{dir: filepath.Join(s.root, "uid-1")}.work(), "cluster.rkestate"))
			if err != nil || string(got) != "new" {
				t.Errorf("the tool was given the state %q (%v), want the stored one", got, err)
			}
		})
	}
}

// TestALostRunTakesTheNewerStateWithIt is about a manager that returned to the state of a run that it had not stored. A run of another one had been lost since, and
// the copy, which was older, replaced that state.
func TestALostRunTakesTheNewerStateWithIt(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration // from the run here to the one that left the copy
		want  string
	}{
		"the copy is of a run before the one here": {after: -time.Hour, want: "state"},
		"the copy is of the one here":              {want: "state"},
		"the copy is of a run after that":          {after: time.Hour, want: "copy"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			inside := func(wanted *provision.Request) { wanted.ConfigPath, wanted.Config = "", []byte("nodes: []\n") }
			s.start(s.part("work", "up-1", inside))
			began := s.ended().StartedAt.Truncate(time.Second)
			s.start(s.part("environment", "up-3", inside, func(wanted *provision.Request) {
				wanted.Since, wanted.StateFrom = began.Add(30*time.Minute), began.Add(test.after)
				wanted.State = map[string][]byte{"cluster.rkestate": []byte("copy")}
			}))
			s.ended()
			got, err := os.ReadFile(filepath.Join(layout{dir: filepath.Join(s.root, "uid-1")}.work(), "cluster.rkestate"))
			if err != nil || string(got) != test.want {
				t.Errorf("the tool was given the state %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

// TestARunWithoutARecordHasNoBeginning is about a supervisor that ended before it wrote its record: its run did not count as older than any other.
func TestARunWithoutARecordHasNoBeginning(t *testing.T) {
	s := newStage(t)
	s.start(s.part("work", "up-1"))
	s.ended()
	files := layout{dir: filepath.Join(s.root, "uid-1")}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	if err := errors.Join(os.Remove(files.record()), os.Remove(files.result()), os.Chtimes(files.request(), noon, noon)); err != nil {
		t.Fatal(err)
	}
	if run := s.ended(); run.Phase != provision.Interrupted || !run.StartedAt.Equal(noon) {
		t.Errorf("the run is %s and began at %s, want %s", run.Phase, run.StartedAt, noon)
	}
}

func TestATornStateIsNoState(t *testing.T) {
	cases := map[string]struct {
		left string
		torn bool
	}{
		"an empty file":                {"", true},
		"the beginning of a JSON":      {`{"desiredState": {"rkeConfig": `, true},
		"a JSON":                       {"{\"desiredState\": {}}\n", false},
		"a text that never was a JSON": {"from k0sctl", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			wanted := s.part("skip", "up-1", func(r *provision.Request) {
				r.ConfigPath, r.Config = "", []byte("nodes: []\n")
				r.State = map[string][]byte{"cluster.rkestate": []byte("from the Secret")}
			})
			first := wanted
			first.ID, first.State = "up-0", nil
			s.start(first) // or nothing has left what is there
			s.ended()
			work := filepath.Join(s.root, "uid-1", "work")
			if err := os.WriteFile(filepath.Join(work, "cluster.rkestate"), []byte(tc.left), fileMode); err != nil {
				t.Fatal(err)
			}
			before, err := s.Collect(t.Context(), wanted.Place, wanted.Tool)
			if err != nil {
				t.Fatal(err)
			}
			if _, taken := before.State["cluster.rkestate"]; taken == tc.torn || slices.Contains(before.Torn, "cluster.rkestate") != tc.torn {
				t.Errorf("collected %+v", before)
			}
			s.start(wanted)
			s.ended()
			after, err := s.Collect(t.Context(), wanted.Place, wanted.Tool)
			if err != nil {
				t.Fatal(err)
			}
			if restored := string(after.State["cluster.rkestate"]) == "from the Secret"; restored != tc.torn {
				t.Errorf("the tool worked with the state %q", after.State["cluster.rkestate"])
			}
		})
	}
}

func TestTheEnvironmentIsWhatIsAllowed(t *testing.T) {
	s := newStage(t)
	s.start(s.part("environment", "up-1", func(r *provision.Request) {
		r.Tool.PassEnv, r.Tool.Env = []string{"PASSED"}, []string{"CLUSTER={name}"}
	}))
	s.ended()
	work := filepath.Join(s.root, "uid-1", "work")
	want := strings.Join([]string{"HOME=" + work, "TMPDIR=" + work, "PATH=" + os.Getenv("PATH"), "PASSED=yes", "CLUSTER=one"}, "\n")
	if diff := cmp.Diff(want, s.has("environment")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHostKeysReachTheTool(t *testing.T) {
	s := newStage(t)
	known := filepath.Join(s.root, "uid-1", "work", ".ssh", "known_hosts")
	s.start(s.part("", "up-1", func(r *provision.Request) {
		r.KnownHosts, r.Tool.Up = []byte("host ssh-ed25519 AAAA\n"), []string{"cp", "{knownhosts}", "{dir}/seen"}
	}))
	if run := s.ended(); run.Phase != provision.Succeeded {
		t.Fatalf("the run is %+v", run)
	}
	if got := s.has("seen"); got != "host ssh-ed25519 AAAA\n" {
		t.Errorf("the tool found %q", got)
	}
	s.start(s.part("environment", "up-2", func(r *provision.Request) {
		r.KnownHosts, r.Tool.Env = []byte("other\n"), []string{"HOSTS={knownhosts}"}
	}))
	s.ended()
	if got := s.has("environment"); !strings.HasSuffix(got, "\nHOSTS="+known) {
		t.Errorf("the environment is\n%s", got)
	}
	s.start(s.part("work", "up-3"))
	s.ended()
	if _, err := os.Stat(known); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("host keys of an earlier run are still known: %v", err)
	}
}

func TestAKeyReachesTheToolThroughAnAgentOnly(t *testing.T) {
	s := newStage(t)
	encoded := testkit.PrivateKey(t)
	s.start(s.part("sign", "up-1", func(r *provision.Request) { r.PrivateKey = encoded }))
	if run := s.ended(); run.Phase != provision.Succeeded {
		t.Fatalf("the run is %+v", run)
	}
	if got := s.has("signed"); got != "ssh-ed25519" {
		t.Errorf("the tool found %q", got)
	}
	secret := strings.Split(string(encoded), "\n")[1]
	err := filepath.WalkDir(s.root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), secret) {
			return fmt.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWatchTellsOfStepsAndEnds(t *testing.T) {
	s := newStage(t)
	watching, stop := make(chan error, 1), t.Context()
	go func() { watching <- s.Watch(stop) }()
	s.start(s.part("work", "up-1"))
	s.ended()
	deadline := time.After(time.Minute)
	select {
	case cluster := <-s.Changed():
		if cluster != "uid-1" {
			t.Errorf("the cluster is %q", cluster)
		}
	case <-deadline:
		t.Fatal("nothing was told")
	}
}

// A tool that failed at once, with the words of the attempt before, was noticed only when the Cluster was looked at anyway, up to 15 seconds later.
func TestTheEndOfAnEqualRunIsTold(t *testing.T) {
	s := newStage(t)
	s.start(s.part("fail", "up-1"))
	s.ended()
	before := s.look()["uid-1"]
	if again := s.look()["uid-1"]; again != before {
		t.Errorf("a run that has ended looks like %+v and then like %+v", before, again)
	}
	s.start(s.part("fail", "up-2"))
	s.ended()
	if after := s.look()["uid-1"]; after == before {
		t.Errorf("both runs look like %+v", before)
	}
}

func TestNamesDoNotLeadOut(t *testing.T) {
	s := newStage(t)
	for _, cluster := range []string{"", ".", "..", "../x", "a/b", ".hidden"} {
		if err := s.Start(t.Context(), s.part("work", "up-1", func(r *provision.Request) { r.Cluster = cluster })); err == nil {
			t.Errorf("%q was accepted", cluster)
		}
		if err := s.Forget(t.Context(), cluster); err == nil {
			t.Errorf("%q was forgotten", cluster)
		}
	}
	link := filepath.Join(filepath.Dir(s.config), "link.rkestate")
	if err := os.Symlink("/etc/passwd", link); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Collect(t.Context(), s.part("", "").Place, s.part("", "").Tool); err != nil || len(left.State) > 0 {
		t.Errorf("a link was followed: %q, %v", left.State, err)
	}
}
