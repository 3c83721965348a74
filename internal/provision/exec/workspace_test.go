// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// TestAttackARemovalWritesOutsideOfTheRoot is about a Cluster whose configPath was changed to a file outside of --config-root that does
// not exist: its removal wrote the copy of the configuration there.
func TestAttackARemovalWritesOutsideOfTheRoot(t *testing.T) {
	s := newStage(t)
	s.Runner.options.ConfigRoot = confine.Root(filepath.Dir(s.config))
	outside := t.TempDir()
	link := filepath.Join(filepath.Dir(s.config), "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a file that does not exist": filepath.Join(outside, "new.yml"),
		"a directory that is a link": filepath.Join(link, "new.yml"),
	} {
		for _, action := range []provision.Action{provision.Up, provision.Remove} {
			err := s.Start(t.Context(), s.part("work", "x-1", func(wanted *provision.Request) {
				wanted.ConfigPath, wanted.Action, wanted.Config = path, action, []byte("nodes: []\n")
			}))
			if !errors.Is(err, provision.ErrPathRefused) {
				t.Errorf("%s, %s: got %v", name, action, err)
			}
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there are %v, %v", left, err)
	}
}

// TestAttackALinkLeadsTheHostKeysOut is about a tool that put a link in the place of $HOME/.ssh: the manager, which nothing confines, removed or
// replaced the known_hosts that the link led to, such as its own.
func TestAttackALinkLeadsTheHostKeysOut(t *testing.T) {
	for name, keys := range map[string]string{"a run with host keys": "host ssh-ed25519 AAAA\n", "a run without": ""} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			outside, files := t.TempDir(), layout{dir: filepath.Join(s.root, "uid-1")}
			theirs := filepath.Join(outside, "known_hosts")
			err := errors.Join(
				os.WriteFile(theirs, []byte("theirs\n"), fileMode), os.MkdirAll(files.work(), dirMode), os.Symlink(outside, filepath.Join(files.work(), ".ssh")),
			)
			if err != nil {
				t.Fatal(err)
			}
			s.start(s.part("work", "up-1", func(wanted *provision.Request) { wanted.KnownHosts = []byte(keys) }))
			if run := s.ended(); run.Phase != provision.Succeeded {
				t.Errorf("the run is %+v", run)
			}
			if got, err := os.ReadFile(theirs); err != nil || string(got) != "theirs\n" {
				t.Errorf("the file outside has %q (%v)", got, err)
			}
			got, err := os.ReadFile(files.knownHosts())
			if string(got) != keys || keys == "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the tool is given %q (%v), want %q", got, err, keys)
			}
		})
	}
}

// TestAttackAPipeHoldsUpTheManager is about a tool that left a pipe under the name by which the next file is written: opening it waited for a
// reader, and with it every call for every Cluster.
func TestAttackAPipeHoldsUpTheManager(t *testing.T) {
	t.Parallel()
	top, content := t.TempDir(), []byte("nodes: []\n")
	pipe := filepath.Join(top, "."+aside("cluster.yml", content))
	if err := syscall.Mkfifo(pipe, fileMode); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) // so that the test ends whatever opens it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	dir, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{dir: dir}
	defer w.close()
	if err := w.write("cluster.yml", content); err != nil {
		t.Error(err)
	}
	if got, err := w.read("cluster.yml"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file has %q (%v)", got, err)
	}
}

// TestARemovalIsGivenWhatWasApplied is about a file that was changed after it had been applied: the tool has to remove what it made.
func TestARemovalIsGivenWhatWasApplied(t *testing.T) {
	const applied, later = "nodes: [{address: one}]\n", "nodes: [{address: two}]\n"
	for name, test := range map[string]struct{ present, want, aside string }{
		"the file is as it was applied":          {present: applied, want: applied},
		"the file has another comment":           {present: "# note\n" + applied, want: "# note\n" + applied},
		"the file has another configuration":     {present: later, want: applied, aside: later},
		"the file is not a configuration at all": {present: "{", want: applied, aside: "{"},
		"the file is gone":                       {want: applied},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			err := os.Remove(s.config)
			if test.present != "" {
				err = os.WriteFile(s.config, []byte(test.present), fileMode)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.start(s.part("work", "remove-1", func(wanted *provision.Request) {
				wanted.Action, wanted.Config = provision.Remove, []byte(applied)
			}))
			s.ended()
			if got := s.has(filepath.Base(s.config)); got != test.want {
				t.Errorf("the tool was given %q, want %q", got, test.want)
			}
			var asides []string
			files, _ := filepath.Glob(s.config + ".unapplied-*")
			for _, file := range files {
				asides = append(asides, s.has(filepath.Base(file)))
			}
			if want := slices.DeleteFunc([]string{test.aside}, func(text string) bool { return text == "" }); !slices.Equal(asides, want) {
				t.Errorf("set aside are %q, want %q", asides, want)
			}
		})
	}
}

// TestADirectoryBesideTheStateHoldsTheClusterForEver is about patterns that match more than files, and than what a Secret can keep: the error came with every pass, and the Cluster
// could not even be deleted.
func TestADirectoryBesideTheStateHoldsTheClusterForEver(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	// Too large for any Secret, and so one that nothing is read from.
	err := errors.Join(
		os.WriteFile(filepath.Join(at, "huge"), nil, fileMode), os.Truncate(filepath.Join(at, "huge"), maxFile+1),
		os.Mkdir(filepath.Join(at, "cache"), 0o700), os.Symlink("/etc/passwd", filepath.Join(at, "link")),
		os.WriteFile(filepath.Join(at, "one.state"), []byte("state"), fileMode), os.Mkdir(filepath.Join(at, "kubeconfig"), 0o700),
		os.Symlink("/etc", filepath.Join(at, "out")), os.Symlink("round", filepath.Join(at, "round")),
	)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	w := &workspace{dir: root, config: filepath.Join(at, "cluster.yml"), name: "cluster.yml"}
	unread := map[string]bool{"huge": true, "out/passwd": true, "round/kubeconfig": true}
	for _, file := range []string{
		"kubeconfig", "link", "../link", "/etc/passwd", "", "huge", "out/passwd", "round/kubeconfig", "one.state/kubeconfig", "cache/kubeconfig", "none/kubeconfig",
	} {
		left, err := w.collect("one", provision.Tool{StateFiles: []string{"*", "state/*", "[", "{config}"}, KubeconfigFile: file})
		if err != nil || len(left.State) != 1 || string(left.State["one.state"]) != "state" || len(left.Kubeconfig) > 0 {
			t.Errorf("kubeconfig in %q: collected %v, %v", file, left, err)
		}
		want := []string{"huge"}
		if unread[file] {
			want = append(want, file)
		}
		if !slices.Equal(left.Unread, want) {
			t.Errorf("kubeconfig in %q: %q cannot be kept, want %q", file, left.Unread, want)
		}
	}
}

// TestClustersInOneDirectoryTakeEachOthersState is about RKE's state, which was looked for as "*.rkestate": a run of one cluster brought back the state and the
// authority of a neighbour that had been removed, from a copy in its own Secret. With many neighbours, its own state was never stored.
func TestClustersInOneDirectoryTakeEachOthersState(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	root, err := os.OpenRoot(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	tool, err := provision.Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 32 {
		if err := root.WriteFile(fmt.Sprintf("a%d.rkestate", i), []byte("of a neighbour"), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	w := &workspace{dir: root, config: filepath.Join(at, "east.yml"), name: "east.yml"}
	// As an earlier version has stored it, before west was removed.
	stored := map[string][]byte{"east.rkestate": []byte("of east"), "west.rkestate": []byte("of west")}
	err = w.putState(provision.Request{Place: provision.Place{Name: "east", ConfigPath: w.config}, Tool: tool, State: stored})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("west.rkestate"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the neighbour's state is back (%v)", err)
	}
	left, err := w.collect("east", tool)
	if want := map[string][]byte{"east.rkestate": []byte("of east")}; err != nil || !maps.EqualFunc(left.State, want, bytes.Equal) {
		t.Errorf("collected %q (%v), want %q", left.State, err, want)
	}
}

// newWorkspace returns the workspace of cluster.yml, and its directory.
func newWorkspace(t *testing.T) (*workspace, *os.Root) {
	t.Helper()
	at := t.TempDir()
	root, err := os.OpenRoot(at)
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{dir: root, config: filepath.Join(at, "cluster.yml"), name: "cluster.yml"}
	t.Cleanup(w.close)
	return w, root
}

// TestTheSeventeenthStateFileIsDropped is about a tool with many state files: of each pattern, only the first ones were stored, which nobody learned before
// the rest was needed on another machine.
func TestTheSeventeenthStateFileIsDropped(t *testing.T) {
	t.Parallel()
	const small, large = 20, provision.MaxState/maxFile + 1
	w, root := newWorkspace(t)
	for i := range small {
		if err := errors.Join(root.WriteFile(fmt.Sprintf("%02d.small", i), []byte("state"), fileMode), root.Mkdir(fmt.Sprintf("%02d-small", i), dirMode)); err != nil {
			t.Fatal(err)
		}
	}
	left, err := w.collect("one", provision.Tool{StateFiles: []string{"*small"}})
	if err != nil || len(left.State) != small || len(left.Unread) > 0 {
		t.Errorf("of %d files %d are collected, and %q cannot be kept: %v", small, len(left.State), left.Unread, err)
	}
	for i := range large {
		name := fmt.Sprintf("%02d.large", i)
		if err := errors.Join(root.WriteFile(name, nil, fileMode), os.Truncate(filepath.Join(filepath.Dir(w.config), name), maxFile)); err != nil {
			t.Fatal(err)
		}
	}
	left, err = w.collect("one", provision.Tool{StateFiles: []string{"*.large", "*"}})
	if want := fmt.Sprintf("%02d.large", large-1); err != nil || len(left.State) < large-1 || !slices.Contains(left.Unread, want) {
		t.Errorf("of %d large files %d are collected, and %q cannot be kept (%v), want %q", large, len(left.State), left.Unread, err, want)
	}
}

// TestAnOldStateBesideAFileOutlivesANewerCopy is about a leader that returned: what its machine has beside the user's file is from before the copy. It is renamed,
// and what has been renamed is no state of the tool any more, whatever its pattern.
func TestAnOldStateBesideAFileOutlivesANewerCopy(t *testing.T) {
	t.Parallel()
	tool, err := provision.Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	written := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		from time.Time
		copy string
		want []string
	}{
		"the copy is from here":                     {copy: "copy", want: []string{"beside"}},
		"the copy is newer":                         {from: written.Add(time.Minute), copy: "copy", want: []string{"copy", "beside"}},
		"the copy is newer, and the same":           {from: written.Add(time.Minute), copy: "beside", want: []string{"beside"}},
		"the copy is of a run before":               {from: written.Add(-time.Minute), copy: "copy", want: []string{"beside"}},
		"the copy is of a run begun in the instant": {from: written, copy: "copy", want: []string{"beside"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, root := newWorkspace(t)
			if err := errors.Join(root.WriteFile("cluster.rkestate", []byte("beside"), fileMode), root.Chtimes("cluster.rkestate", written, written)); err != nil {
				t.Fatal(err)
			}
			err = w.putState(provision.Request{
				Place: provision.Place{Name: "one", ConfigPath: w.config}, Tool: tool, StateFrom: test.from,
				State: map[string][]byte{"cluster.rkestate": []byte(test.copy)},
			})
			files, errList := fs.Glob(root.FS(), "cluster.rkestate*")
			var got []string
			for _, file := range files {
				content, errRead := root.ReadFile(file)
				got, errList = append(got, string(content)), errors.Join(errList, errRead)
			}
			if err != nil || errList != nil || !slices.Equal(got, test.want) {
				t.Errorf("there are %q (%v, %v), want %q", got, err, errList, test.want)
			}
			left, err := w.collect("one", provision.Tool{StateFiles: []string{"cluster.rkestate*"}})
			if err != nil || len(left.State) != 1 || string(left.State["cluster.rkestate"]) != test.want[0] {
				t.Errorf("the state is %q (%v), want %q", left.State, err, test.want[0])
			}
		})
	}
}
