// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/provision"
)

// spied has a tool look at what is not its own, and returns what it could read. The manager is this process.
func (s *stage) spied(change ...func(*provision.Request)) []string {
	s.t.Helper()
	secrets := s.t.TempDir()
	other := layout{dir: filepath.Join(s.root, "uid-2")}
	for _, path := range []string{filepath.Join(secrets, "kubeconfig"), filepath.Join(secrets, "token"), filepath.Join(other.work(), "cluster.rkestate")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), dirMode), os.WriteFile(path, []byte("secret"), fileMode)); err != nil {
			s.t.Fatal(err)
		}
	}
	manager := fmt.Sprintf("/proc/%d", os.Getpid())
	targets := map[string]string{
		filepath.Join(secrets, "kubeconfig"): "the kubeconfig", filepath.Join(secrets, "token"): "the token",
		other.work(): "the directory of another cluster", filepath.Join(other.work(), "cluster.rkestate"): "the state of another cluster",
		layout{dir: filepath.Join(s.root, "uid-1")}.request(): "its own request", s.root: "the directory of all clusters",
		manager + "/environ": "the manager's environment", manager + "/root/etc": "files through the manager",
		manager + "/cmdline": "the manager's arguments", "/etc/shadow": "passwords", os.TempDir(): "everybody's temporary files",
		strconv.Itoa(os.Getpid()): "a signal to the manager",
	}
	wanted := s.part("spy", "up-spy", change...)
	for target := range targets {
		wanted.Tool.Up = append(wanted.Tool.Up, target)
	}
	s.start(wanted)
	if run := s.ended(); run.Phase != provision.Succeeded {
		s.t.Fatalf("the run is %+v", run)
	}
	var could []string
	for target := range strings.FieldsSeq(s.has("spied")) {
		if target == "signal" {
			target = strconv.Itoa(os.Getpid())
		}
		could = append(could, targets[target])
	}
	return could
}

// TestAttackAToolReadsWhatIsNotItsOwn is about configurations of tools that name commands: they ran beside the manager's token, its
// kubeconfig and the state of all clusters, with the right to read them.
func TestAttackAToolReadsWhatIsNotItsOwn(t *testing.T) {
	isolates(t)
	s := newStage(t)
	if diff := cmp.Diff([]string(nil), s.spied()); diff != "" {
		t.Errorf("the tool could read (-want +got):\n%s", diff)
	}
}

// TestAttackAToolWithDaemonsReadsWhatIsNotItsOwn is the same for a tool that has to find its daemons: it sees that there are processes.
func TestAttackAToolWithDaemonsReadsWhatIsNotItsOwn(t *testing.T) {
	isolates(t)
	s := newStage(t)
	could := s.spied(func(wanted *provision.Request) { wanted.Tool.KeepsDaemons = true })
	for _, one := range could {
		if one != "the manager's arguments" && one != "a signal to the manager" {
			t.Errorf("the tool could read %s", one)
		}
	}
}

// TestAttackTheVersionOfAToolReadsWhatIsNotItsOwn is the same for the call that asks a tool for its version.
func TestAttackTheVersionOfAToolReadsWhatIsNotItsOwn(t *testing.T) {
	isolates(t)
	s := newStage(t)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("secret"), fileMode); err != nil {
		t.Fatal(err)
	}
	for path, readable := range map[string]bool{secret: false, "/etc/hosts": true} {
		if version, err := s.Version(t.Context(), provision.Tool{Version: []string{"/bin/cat", path}}); (err == nil) != readable {
			t.Errorf("%q: it returned %q, %v", path, version, err)
		}
	}
}

func TestIsolationThatCannotBe(t *testing.T) {
	isolates(t)
	for name, test := range map[string]struct {
		isolation Isolation
		refused   bool
		log       string
	}{
		"is refused where it is required":   {IsolationRequired, true, ""},
		"is told where it is preferred":     {IsolationPreferred, false, "This tool is not isolated: the directory "},
		"is not told where nobody wants it": {IsolationNone, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.options.Isolation, s.options.Secret = test.isolation, []string{filepath.Join(filepath.Dir(s.config), "kubeconfig")}
			err := s.Start(t.Context(), s.part("work", "up-1"))
			if refused := errors.Is(err, provision.ErrPathRefused); refused != test.refused || err != nil && !refused {
				t.Fatalf("it was refused with %v", err)
			}
			if test.refused {
				return
			}
			if log := s.ended().Log; strings.HasPrefix(log, "This tool") != (test.log != "") || !strings.HasPrefix(log, test.log) {
				t.Errorf("the log is %q", log)
			}
		})
	}
}

// isolates skips a test on a machine that cannot isolate.
func isolates(t *testing.T) {
	t.Helper()
	if err := CanIsolate(); err != nil {
		t.Skip(err)
	}
}
