// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// patience is for a machine that is busy with much else.
const patience = 3 * time.Minute

// sandbox is a state directory of its own and the binary.
type sandbox struct {
	t        *testing.T
	bin, dir string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the end-to-end tests look for processes in /proc and run on Linux only")
	}
	bin := os.Getenv("DEVCLUSTER_BIN")
	if bin == "" {
		bin = "../../bin/devcluster"
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skipf("the binary %s is missing: build it with make build or set DEVCLUSTER_BIN", bin)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{t: t, bin: bin, dir: dir}
	t.Cleanup(func() {
		for _, pid := range s.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if t.Failed() {
				continue
			}
			t.Errorf("process %d is left over", pid)
		}
	})
	return s
}

func (s *sandbox) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), s.bin, args...)
	cmd.Env = append(os.Environ(), "DEVCLUSTER_DIR="+s.dir)
	return cmd
}

// run runs a call and returns its output and exit code.
func (s *sandbox) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	var out, err bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		if _, ended := errors.AsType[*exec.ExitError](failed); !ended {
			s.t.Fatal(failed)
		}
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// must runs a call that has to succeed and returns its standard output.
func (s *sandbox) must(args ...string) string {
	s.t.Helper()
	stdout, stderr, code := s.run(args...)
	if code != 0 {
		s.t.Fatalf("devcluster %s ended with %d:\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// up runs a call of up and returns a client of the cluster with the path of the kubeconfig that it prints.
func (s *sandbox) up(args ...string) (kubernetes.Interface, string) {
	s.t.Helper()
	stdout := s.must(append([]string{"up"}, args...)...)
	path, ok := strings.CutPrefix(strings.TrimSpace(stdout), "export KUBECONFIG=")
	if !ok {
		s.t.Fatalf("up prints %q", stdout)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		s.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	return client, path
}

// interrupt starts a call, waits until it says something, sends it a signal and waits for its end.
func (s *sandbox) interrupt(signal syscall.Signal, when string, args ...string) {
	s.t.Helper()
	cmd := s.command(args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	var said bytes.Buffer
	buffer := make([]byte, 4096)
	for sent := false; ; {
		n, err := stderr.Read(buffer)
		said.Write(buffer[:n])
		if !sent && strings.Contains(said.String(), when) {
			sent = true
			if err := cmd.Process.Signal(signal); err != nil {
				s.t.Fatal(err)
			}
		}
		if err != nil {
			if !sent {
				s.t.Errorf("it never said %q but:\n%s", when, said.String())
			}
			break
		}
	}
	if err := cmd.Wait(); err == nil {
		s.t.Errorf("an interrupted call ended well:\n%s", said.String())
	}
}

// summary is an entry of list -o json.
type summary struct {
	Name      string `json:"name"`
	State     string `json:"state"`
	Nodes     int    `json:"nodes"`
	Version   string `json:"version"`
	Endpoint  string `json:"endpoint"`
	Directory string `json:"directory"`
}

func (s *sandbox) list() []summary {
	s.t.Helper()
	var list []summary
	if err := json.Unmarshal([]byte(s.must("list", "-o", "json")), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// shows waits until list has these names, states and numbers of nodes: on a busy machine a component can take longer for an answer than a
// probe waits, and is Degraded for that moment.
func (s *sandbox) shows(want ...summary) {
	s.t.Helper()
	var last []summary
	defer func() {
		if s.t.Failed() {
			s.t.Logf("list shows %+v, want %+v", last, want)
		}
	}()
	s.eventually("list shows what is there", func() bool {
		last = nil
		for _, c := range s.list() {
			last = append(last, summary{Name: c.Name, State: c.State, Nodes: c.Nodes})
		}
		return slices.Equal(last, want)
	})
}

// processes returns what runs out of the state directory, whatever the records say.
func (s *sandbox) processes() []int {
	s.t.Helper()
	return s.processesNamed("")
}

// processesNamed returns those with a component's name; an empty name means all.
func (s *sandbox) processesNamed(name string) []int {
	s.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		s.t.Fatal(err)
	}
	var pids []int
	for _, dir := range dirs {
		target, err := os.Readlink(dir)
		if err != nil || !strings.HasPrefix(target, s.dir+"/") {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			continue
		}
		if name != "" && filepath.Base(strings.TrimSuffix(target, " (deleted)")) != name {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill kills processes as a crash would and waits until they are gone.
func (s *sandbox) kill(name string) {
	s.t.Helper()
	pids := s.processesNamed(name)
	if len(pids) == 0 {
		s.t.Fatalf("no process %q to kill", name)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			s.t.Fatal(err)
		}
	}
	s.eventually("the killed processes are gone", func() bool { return len(s.processesNamed(name)) == 0 })
}

func (s *sandbox) eventually(what string, reached func() bool) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !reached() {
		select {
		case <-deadline:
			s.t.Fatalf("not reached within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// listeners returns the addresses that the sandbox' processes listen on, from the kernel's own tables.
func (s *sandbox) listeners() []string {
	s.t.Helper()
	sockets := map[string]bool{}
	for _, pid := range s.processes() {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
				sockets[strings.Trim(target, "socket:[]")] = true
			}
		}
	}
	var found []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(string(raw), "\n") {
			fields := strings.Fields(line)
			const listening = "0A"
			if len(fields) < 10 || fields[3] != listening || !sockets[fields[9]] {
				continue
			}
			address, port, _ := strings.Cut(fields[1], ":")
			number, err := hex.DecodeString(port)
			if err != nil {
				s.t.Fatal(err)
			}
			found = append(found, fmt.Sprintf("%s:%d", address, int(number[0])<<8|int(number[1])))
		}
	}
	return found
}
