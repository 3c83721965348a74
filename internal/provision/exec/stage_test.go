// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/contract"
)

// The test binary is also the supervisor and the tool of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "supervise" {
		if err := Supervise(context.Background(), os.Args[2], time.Now); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "contract" {
		os.Exit(contract.Play(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "play" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// play is the tool: it plays a part. Its configuration is its first argument, in whose directory it leaves what it makes.
func play(part string, args []string) int {
	dir := filepath.Dir(args[0])
	count(dir)
	switch part {
	case "work":
		fmt.Println(`INFO[0001] [etcd] Building up etcd plane..`)
		leave(dir, "cluster.rkestate", "state")
		leave(dir, "kube_config_"+filepath.Base(args[0]), "kubeconfig")
	case "fail":
		fmt.Fprintln(os.Stderr, `FATA[0002] Failed to pull image: cannot pull image rancher/hyperkube`)
		return 7
	case "refuse":
		here, _ := os.Getwd()
		fmt.Fprintf(os.Stderr, "cannot use cluster configuration %q: nodes[1] is twice\n", filepath.Join(here, "cluster.yml"))
		return 1
	case "third":
		if calls(dir) < 3 {
			return 1
		}
	case "killed":
		fmt.Println("up to here")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		<-time.After(time.Hour)
	case "hang":
		leave(dir, "hangs", "")
		<-time.After(time.Hour)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		leave(dir, "hangs", "")
		<-time.After(time.Hour)
	case "obey":
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		leave(dir, "hangs", "")
		<-told
		leave(dir, "cluster.rkestate", "saved at the last moment")
		return 143
	case "daemon", "failing-daemon":
		child := exec.CommandContext(context.Background(), os.Args[0], "play", "hang", args[0])
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // it holds on to the output, as careless daemons do
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			return 9
		}
		leave(dir, "daemon", strconv.Itoa(child.Process.Pid))
		if part == "failing-daemon" {
			return 1
		}
	case "leak":
		fmt.Println("using\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\nand password: hunter22 and the-known-secret")
		fmt.Print("no end of line: token=abcdefghijkl")
	case "flood":
		for range 300_000 {
			fmt.Println("INFO[0001] the same line again and again, because nobody reads it")
		}
		fmt.Println("INFO[0002] the last line")
	case "skip":
		fmt.Println(`WARN[0003] Failed to set up SSH tunneling for host [127.0.0.9]: Can't retrieve Docker Info`)
		fmt.Println(`WARN[0003] Removing host [127.0.0.9] from node lists`)
	case "environment":
		leave(dir, "environment", strings.Join(os.Environ(), "\n"))
	case "sign":
		return sign(dir)
	case "spy":
		leave(dir, "spied", spy(args[1:]))
	}
	return 0
}

// spy tries to read files, list directories and signal processes, and tells what it could do.
func spy(targets []string) string {
	var could []string
	for _, target := range targets {
		if pid, err := strconv.Atoi(target); err == nil {
			if syscall.Kill(pid, 0) == nil {
				could = append(could, "signal")
			}
			continue
		}
		if _, err := os.ReadFile(target); err == nil {
			could = append(could, target)
		} else if _, err := os.ReadDir(target); err == nil {
			could = append(could, target)
		}
	}
	return strings.Join(could, "\n")
}

// sign asks the agent for its keys.
func sign(dir string) int {
	connection, err := (&netDialer{}).dial(os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	keys, err := agent.NewClient(connection).List()
	if err != nil || len(keys) != 1 {
		fmt.Println(keys, err)
		return 1
	}
	leave(dir, "signed", keys[0].Type())
	return 0
}

func leave(dir, name, content string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), fileMode); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
}

// count notes one more call of the tool, and calls returns how many there were.
func count(dir string) {
	file, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
	if err == nil {
		_, err = file.WriteString("x")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		os.Exit(98)
	}
}

func calls(dir string) int {
	raw, _ := os.ReadFile(filepath.Join(dir, "calls"))
	return len(raw)
}

// stage is what a test plays on.
type stage struct {
	*Runner

	t      *testing.T
	config string
	root   string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := &stage{t: t, root: filepath.Join(t.TempDir(), "root"), config: filepath.Join(t.TempDir(), "cluster.yml")}
	s.Runner = s.again()
	if err := os.WriteFile(s.config, []byte("nodes: []\n"), fileMode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = s.Cancel(ctx, "uid-1")
		s.until("no run is left", func() bool {
			run, err := s.Observe(ctx, "uid-1")
			return err != nil || run.Phase != provision.Running
		})
	})
	return s
}

// again returns a Runner on the same files, as a manager that was started again has it.
func (s *stage) again() *Runner {
	s.t.Helper()
	runner, err := New(Options{
		Root: s.root, Isolation: IsolationPreferred, Limit: 2, Supervisor: []string{os.Args[0], "supervise"}, Paths: map[string]string{"tool": os.Args[0]},
		Now: time.Now,
		Environment: func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "AWS_SECRET_ACCESS_KEY=no", "KUBECONFIG=/no", "PASSED=yes"}
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return runner
}

// part returns a request for a run in which the tool plays a part.
func (s *stage) part(part, id string, change ...func(*provision.Request)) provision.Request {
	wanted := provision.Request{
		Place: provision.Place{Cluster: "uid-1", Name: "one", ConfigPath: s.config}, ID: id, Action: provision.Up,
		Tool: provision.Tool{
			Name: "exec", Up: []string{"tool", "play", part, "{config}"}, Remove: []string{"tool", "play", part, "{config}"},
			StateFiles: []string{"*.rkestate"}, KubeconfigFile: "kube_config_{configname}",
		},
		Timeout: time.Minute, Grace: time.Minute,
	}
	for _, c := range change {
		c(&wanted)
	}
	return wanted
}

func (s *stage) start(wanted provision.Request) {
	s.t.Helper()
	if err := s.Start(s.t.Context(), wanted); err != nil {
		s.t.Fatal(err)
	}
}

// ended waits until the cluster's run has ended, and returns it.
func (s *stage) ended() provision.Run {
	s.t.Helper()
	var run provision.Run
	s.until("the run has ended", func() bool {
		var err error
		if run, err = s.Observe(s.t.Context(), "uid-1"); err != nil {
			s.t.Fatal(err)
		}
		return run.Phase != provision.Running
	})
	return run
}

// until waits until something holds.
func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.NewTimer(5 * time.Minute) // a busy machine takes its time, and an idle one does not wait
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			s.t.Fatalf("gave up waiting until %s", what)
		case <-tick.C:
		}
	}
}

// has waits until the tool has left a file beside the configuration, and returns its content.
func (s *stage) has(name string) string {
	s.t.Helper()
	path := filepath.Join(filepath.Dir(s.config), name)
	s.until("the tool has left "+name, func() bool { _, err := os.Stat(path); return err == nil })
	raw, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

func (s *stage) calls() int { return calls(filepath.Dir(s.config)) }

// supervisor returns the record of the run.
func (s *stage) record() record {
	s.t.Helper()
	var begun record
	s.until("the tool is recorded", func() bool {
		known, err := read(layout{dir: filepath.Join(s.root, "uid-1")}.record(), &begun)
		return err == nil && known && begun.Tool.PID > 0
	})
	return begun
}

// traces returns the processes that belong to the test's configuration, wherever they are.
func (s *stage) traces() []string {
	var found []string
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range entries {
		raw, _ := os.ReadFile(path)
		if strings.Contains(string(raw), s.config) {
			found = append(found, path)
		}
	}
	return slices.Clip(found)
}
