// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

func TestShellIsOfferedObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	s.Create(t, build.Pool(name).Obj())
	config := kubeconfigFor(t, s.Config, name)
	offered := func(args ...string) string {
		t.Helper()
		got := run(t, options{}, CompletionArgs(append([]string{"--kubeconfig", config}, args...))...)
		if got.code != exitFine {
			t.Errorf("%v: %+v", args, got)
		}
		return got.out
	}
	has(t, offered(""), "status\t", "why\t", "preview\t")
	has(t, offered("why", ""), "nodepool/\n", "pod/\n")
	// A shell waits for two seconds at most, which a busy machine may take to connect.
	testkit.Eventually(t, "pools are offered", func() bool { return strings.Contains(offered("why", "np/"), "np/"+name+"\n") })
	testkit.Eventually(t, "pools are offered as a second word", func() bool { return strings.Contains(offered("why", "np", ""), name+"\n") })
	has(t, offered("power", "on", ""), "virtualmachine/\n")
	has(t, offered("status", "-o", ""), "json\nyaml\nname\nwide\n")
	has(t, offered("status", "--context", ""), "test\n")
	testkit.Eventually(t, "namespaces are offered", func() bool { return strings.Contains(offered("status", "-n", ""), name+"\n") })
	if got := offered("why", "elephant/"); !strings.HasPrefix(got, ":") {
		t.Errorf("an unknown kind is offered %q", got)
	}
	// A cluster that cannot be reached offers nothing, and is no error on the command line of a person who is still typing.
	gone := run(t, options{}, CompletionArgs([]string{"--kubeconfig", missing(t), "why", "np/"})...)
	if gone.code != exitFine || !strings.HasPrefix(gone.out, ":") {
		t.Errorf("without a cluster: %+v", gone)
	}
}

// kubectl returns the path of kubectl.
func kubectl(t *testing.T) string {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(testkit.Root(), "bin", "k8s")), "kubectl")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs kubectl: %v", err)
	}
	return path
}

// TestKubectlCompletes: kubectl itself finds the program and passes on what it answers.
func TestKubectlCompletes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	name := s.Namespace(t)
	s.Create(t, build.Pool(name).Obj())
	program, err := os.Executable()
	must(t, err)
	folder := t.TempDir()
	for _, each := range []string{"kubectl-windlass", "kubectl_complete-windlass"} {
		must(t, os.Symlink(program, filepath.Join(folder, each)))
	}
	for typed, want := range map[string]string{
		"":              "status\t",
		"why np/":       "np/" + name + "\n",
		"why nodepool ": "\n" + name + "\n",
		"status -n ":    name + "\n",
		"top ":          "machines\n",
	} {
		args := append([]string{"__complete", "windlass"}, strings.Split(typed, " ")...)
		testkit.Eventually(t, fmt.Sprintf("%q completes to %q", typed, want), func() bool {
			command := exec.CommandContext(t.Context(), kubectl(t), args...)
			command.Env = []string{asPlugin + "=1", "PATH=" + folder, "HOME=" + folder, "KUBECONFIG=" + s.kubeconfig}
			out, err := command.Output()
			must(t, err)
			return strings.Contains("\n"+string(out), want)
		})
	}
}

// TestCompletionDoesNotWait: a person who has pressed Tab is not kept waiting by a cluster that does not answer.
func TestCompletionDoesNotWait(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // which accepts, and never answers
	must(t, err)
	defer func() { _ = listener.Close() }()
	config := kubeconfigFor(t, &rest.Config{Host: "http://" + listener.Addr().String()}, "")
	for _, args := range [][]string{{"why", "np/"}, {"why", "-n", ""}} {
		got := run(t, options{}, CompletionArgs(append([]string{"--kubeconfig", config}, args...))...)
		if got.code != exitFine || !strings.HasPrefix(got.out, ":") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
