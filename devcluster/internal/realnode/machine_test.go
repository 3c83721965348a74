// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindPlugins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// has are the plugins of two directories.
		has  [2][]string
		want int
		err  string
	}{
		"the first directory with all of them":         {[2][]string{{"ptp", "host-local", "loopback"}, {"ptp", "host-local", "loopback"}}, 0, ""},
		"a directory that lacks one is passed over":    {[2][]string{{"ptp", "loopback"}, {"ptp", "host-local", "loopback", "bridge"}}, 1, ""},
		"plugins of two directories do not make a set": {[2][]string{{"ptp", "loopback"}, {"host-local"}}, 0, "containernetworking-plugins"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirs := []string{t.TempDir(), t.TempDir()}
			for i, plugins := range test.has {
				for _, plugin := range plugins {
					if err := os.WriteFile(filepath.Join(dirs[i], plugin), nil, 0o700); err != nil {
						t.Fatal(err)
					}
				}
			}
			got, err := findPlugins(dirs)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || got != dirs[test.want] {
				t.Errorf("got %q, %v, want directory %d", got, err, test.want)
			}
		})
	}
}

func TestControllers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// files are made, and a link from "linked" to "cpu".
		files []string
		want  []string
	}{
		"version 1 has a directory for each controller, links apart": {
			files: []string{"cpu/cgroup.procs", "memory/cgroup.procs", "memory/other"}, want: []string{"cpu", "memory"},
		},
		"version 2 has one for all": {
			files: []string{unified, "cpu/cgroup.procs"}, want: []string{"."},
		},
		"nothing mounted": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, file := range test.files {
				write(t, filepath.Join(root, file), "")
			}
			if err := os.Symlink("cpu", filepath.Join(root, "linked")); err != nil {
				t.Fatal(err)
			}
			dirs, err := controllers(root)
			if (err != nil) != (test.want == nil) {
				t.Fatalf("got %v, %v", dirs, err)
			}
			var got []string
			for _, dir := range dirs {
				relative, err := filepath.Rel(root, dir)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, relative)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("controllers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHandOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	control := filepath.Join(root, "cgroup.subtree_control")
	if err := delegate(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(control); err == nil {
		t.Error("version 1 got a delegation")
	}
	write(t, filepath.Join(root, unified), "cpuset io memory\n")
	if err := delegate(root); err != nil {
		t.Fatal(err)
	}
	// A real one adds up what is written; a plain file keeps the last, which shows that io was left out before it.
	if got, err := os.ReadFile(control); err != nil || string(got) != "+memory" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRemoveGroup(t *testing.T) {
	t.Parallel()
	group := filepath.Join(t.TempDir(), "group")
	if err := removeGroup(t.Context(), group); err != nil {
		t.Errorf("a group that is not there: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(group, "pods/besteffort/pod1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := removeGroup(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(group); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}

func write(t *testing.T, path, contents string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}
