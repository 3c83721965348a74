// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/test/guide"
	"github.com/windlass-operator/windlass/test/rig"
)

// visitPatience is how long "make run" can take to start or to stop on a busy machine.
const visitPatience = 5 * time.Minute

// The lines of "make run" that tell how far it is.
const (
	lastLineOfScreen = "What happens from now on:"
)

// visitor is somebody with a checkout, who has built it.
type visitor struct {
	*cluster

	t *testing.T
	// env is added to the environment of make.
	env []string
	log string
}

// newVisitor makes a checkout, in a folder whose path has a space. If the test runs as root, an unprivileged visitor is another user.
func newVisitor(t *testing.T, unprivileged bool) *visitor {
	t.Helper()
	top, err := os.MkdirTemp("", "windlass-visit-") //nolint:usetesting // because the other user could not reach t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "first visit")
	v := &visitor{t: t, log: filepath.Join(top, "make.log"), cluster: &cluster{Cluster: rig.Cluster{
		Dir: filepath.Join(top, "home"), Admin: filepath.Join(dir, ".local", "kubeconfig"),
		Programs: rig.Programs{Root: dir, Windlass: filepath.Join(dir, "bin", "windlass"), Kubectl: filepath.Join(dir, "bin", "k8s", "kubectl")},
	}}}
	t.Cleanup(v.leave)
	version := need(t).Run(t.Context(), shared.Windlass, "version")
	words := strings.Fields(version.Out)
	if len(words) < 2 {
		t.Fatalf("windlass version: %s%s", version.Out, version.Err)
	}
	v.env = []string{"MAKEFLAGS=VERSION=" + words[1]}
	// Everything that make looks at, but no source: then it has nothing to build.
	script := `set -e; cd "$1"; mkdir -p "$2/devcluster" "$4/home"
		cp -a Makefile go.mod go.sum README.md config docs bin "$2"; cp -a devcluster/go.mod "$2/devcluster"
		echo "$3" > "$2/bin/.version"; touch "$2/bin/windlass" "$2/bin/devcluster" "$2/bin/noded"
		chmod 755 "$4"`
	copied := rig.Finish(exec.CommandContext(t.Context(), "bash", "-c", script, "bash", shared.Root, dir, words[1], top))
	if copied.Code != 0 {
		t.Fatalf("cannot make a checkout: %s", copied.Err)
	}
	if unprivileged && os.Getuid() == 0 {
		v.become("nobody", top)
	}
	return v
}

// become gives the checkout to a user, and runs everything as them.
func (v *visitor) become(name, dir string) {
	v.t.Helper()
	account, err := user.Lookup(name)
	if err != nil {
		v.t.Skipf("needs an unprivileged user: %v", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		v.t.Fatal(err)
	}
	v.As = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	given := rig.Finish(exec.CommandContext(v.t.Context(), "chown", "-R", account.Uid+":"+account.Gid, dir))
	if given.Code != 0 {
		v.t.Fatal(given.Err)
	}
}

// leave ends what a failed test has left, and removes the checkout.
func (v *visitor) leave() {
	for _, line := range v.processes() {
		if !v.t.Failed() {
			v.t.Errorf("a process is left: %s", line)
		}
		if pid, err := strconv.Atoi(strings.Fields(line)[0]); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if v.t.Failed() {
		raw, _ := os.ReadFile(v.log)
		operator, _ := os.ReadFile(filepath.Join(v.Root, ".local", "windlass.log"))
		v.t.Logf("make printed:\n%s\nthe operator logged:\n%s", raw, operator)
	}
	if err := os.RemoveAll(filepath.Dir(v.Root)); err != nil {
		v.t.Error(err)
	}
}

// make runs make in the checkout to its end.
func (v *visitor) make(target string) rig.Result {
	v.t.Helper()
	command := v.Command(v.t.Context(), "make", target)
	command.Dir, command.Env = v.Root, append(command.Env, v.env...)
	return rig.Finish(command)
}

// start pastes a line that starts make, in a terminal of its own, and returns what is printed until the screen is complete.
func (v *visitor) start(line string) (terminal *rig.Process, screen string) {
	v.t.Helper()
	if err := os.Remove(v.log); err != nil && !errors.Is(err, os.ErrNotExist) {
		v.t.Fatal(err)
	}
	// Signals do in a terminal what they do by default, also where these tests run under nohup.
	command := v.Command(context.WithoutCancel(v.t.Context()), "env", "--default-signal", "bash", "-c", line)
	command.Dir, command.Env = v.Root, append(command.Env, v.env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: v.As}
	terminal, err := rig.Start("make run", v.log, command)
	if err != nil {
		v.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(v.t.Context(), visitPatience)
	defer cancel()
	if err := terminal.Until(ctx, pollInterval, func(context.Context) error {
		var err error
		if screen, err = terminal.Log(); err == nil && !strings.Contains(screen, lastLineOfScreen) {
			err = errors.New("the screen is not complete")
		}
		return err
	}); err != nil {
		v.t.Fatal(err)
	}
	screen, _, _ = strings.Cut(screen, lastLineOfScreen)
	return terminal, screen + lastLineOfScreen + "\n"
}

// stopped waits until what was started in a terminal has ended by itself, with everything that it started.
func (v *visitor) stopped(terminal *rig.Process) {
	v.t.Helper()
	if _, err := terminal.End(0, visitPatience); err != nil {
		v.t.Fatal(err)
	}
	if left := v.processes(); len(left) > 0 {
		v.t.Errorf("after the end of make run, these processes run:\n%s", strings.Join(left, "\n"))
	}
	if _, err := os.Stat(filepath.Join(v.Root, ".local", "devcluster")); err != nil {
		v.t.Errorf("the data is not kept: %v", err)
	}
}

// processes returns the processes that run a program of the checkout, or run inside of it.
func (v *visitor) processes() []string {
	v.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		v.t.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		raw, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(raw) == 0 { // it has ended, or is a zombie
			continue
		}
		line := strings.ReplaceAll(string(raw), "\x00", " ")
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(line, v.Root) || strings.HasPrefix(cwd, v.Root) {
			found = append(found, filepath.Base(dir)+" "+line)
		}
	}
	return found
}

// files returns the names of what is in the checkout, except for bin, which belongs to the build.
func (v *visitor) files() []string {
	v.t.Helper()
	entries, err := os.ReadDir(v.Root)
	if err != nil {
		v.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Name() != "bin" {
			names = append(names, entry.Name())
		}
	}
	return slices.Sorted(slices.Values(names))
}

// guide returns the blocks of the tour.
func (v *visitor) guide() guide.Page {
	v.t.Helper()
	page, err := guide.Read(filepath.Join(v.Root, "docs", "guide", "tour.md"))
	if err != nil {
		v.t.Fatal(err)
	}
	return page
}

// shown returns what the tour shows as the output of a command.
func (v *visitor) shown(command string) string {
	v.t.Helper()
	for _, block := range v.guide().Blocks {
		if block.Language != "console" {
			continue
		}
		steps, err := block.Steps()
		if err != nil {
			v.t.Fatal(err)
		}
		for _, step := range steps {
			if step.Command == command {
				return step.Output
			}
		}
	}
	v.t.Fatalf("the tour does not show the output of %q", command)
	return ""
}

// tour pastes the blocks of the tour into another terminal, each as a whole, after the line that the screen tells to paste first.
func (v *visitor) tour(screen string) {
	v.t.Helper()
	_, paste, _ := strings.Cut(screen, "\n  export ")
	paste, _, _ = strings.Cut(paste, "\n")
	for _, block := range v.guide().Blocks {
		if block.NotRun != "" || block.Language != "console" {
			continue
		}
		steps, err := block.Steps()
		if err != nil {
			v.t.Fatal(err)
		}
		var script, want strings.Builder
		script.WriteString("export " + paste + "\n")
		for _, step := range steps {
			script.WriteString(step.Command + "\n")
			want.WriteString(step.Output)
		}
		command := v.Command(v.t.Context(), "bash", "-euo", "pipefail", "-c", script.String())
		command.Dir = v.Dir // the visitor need not be in the checkout
		done := rig.Finish(command)
		if difference := guide.Match(want.String(), done.Out); done.Code != 0 || difference != "" {
			v.t.Errorf("tour.md:%d: exit code %d: %s\n%sthe output is:\n%s", block.Line, done.Code, done.Err, difference, done.Out)
		}
	}
}

// download fetches the kubeconfig of a Cluster through the URL on the screen, and compares it with the Secret.
func (v *visitor) download(screen, name string) {
	v.t.Helper()
	_, url, _ := strings.Cut(screen, "keep the URL private: ")
	url, _, _ = strings.Cut(url, "\n")
	base, _, _ := strings.Cut(url, "/?")
	// What sets the cookie is told apart from what uses it, as in a browser.
	script := `curl -fsS -o /dev/null -c cookies "$1" && curl -sS -b cookies -X POST "$2"`
	command := v.Command(v.t.Context(), "bash", "-c", script, "bash", url, base+"/v1/kubeconfigs/"+name+"/download")
	command.Dir = v.Dir
	done := rig.Finish(command)
	want := v.do(v.t, "-n", rig.Namespace, "get", "secret", name+"-kubeconfig", "--template={{.data.value | base64decode}}")
	if diff := cmp.Diff(want, done.Out); done.Code != 0 || diff != "" {
		v.t.Errorf("exit code %d: %s; the kubeconfig (-want +got):\n%s", done.Code, done.Err, diff)
	}
}

// script returns the process of config/local/run.
func (v *visitor) script() int {
	v.t.Helper()
	raw, err := os.ReadFile(filepath.Join(v.Root, ".local", "run.pid"))
	if err != nil {
		v.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		v.t.Fatal(err)
	}
	return pid
}

// find returns the one process whose command contains the text.
func (v *visitor) find(text string) (int, error) {
	for _, line := range v.processes() {
		pid, command, _ := strings.Cut(line, " ")
		if strings.HasPrefix(command, text) {
			return strconv.Atoi(pid)
		}
	}
	return 0, fmt.Errorf("no process %q", text)
}
