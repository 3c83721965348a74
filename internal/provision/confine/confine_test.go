// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package confine_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/windlass-operator/windlass/internal/provision/confine"
)

// TestAttackAPathLeadsOutOfTheRoot tries every way out of the allowed directory that a path has.
func TestAttackAPathLeadsOutOfTheRoot(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	allowed, outside := filepath.Join(base, "allowed"), filepath.Join(base, "outside")
	for _, dir := range []string{filepath.Join(allowed, "sub"), outside, filepath.Join(base, "allowed-too")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	for _, path := range []string{"allowed/file", "allowed/sub/file", "outside/file", "allowed-too/file", "allowed-too/large"} {
		must(t, os.WriteFile(filepath.Join(base, path), []byte(path), 0o600))
	}
	must(t, os.Symlink("sub/file", filepath.Join(allowed, "relative")))
	must(t, os.Symlink(filepath.Join(allowed, "sub", "file"), filepath.Join(allowed, "absolute")))
	must(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(allowed, "escape")))
	must(t, os.Symlink(outside, filepath.Join(allowed, "away")))
	must(t, os.Symlink(allowed, filepath.Join(base, "alias")))
	must(t, syscall.Mkfifo(filepath.Join(allowed, "pipe"), 0o600))

	refused := errors.New("any other error")
	for name, test := range map[string]struct {
		root, path string
		want       error
	}{
		"a file":                             {allowed, allowed + "/file", nil},
		"a file further down":                {allowed, allowed + "/sub/../sub/file", nil},
		"a relative link that stays inside":  {allowed, allowed + "/relative", nil},
		"an absolute link that stays inside": {allowed, allowed + "/absolute", nil},
		"another name of the root":           {base + "/alias", allowed + "/file", nil},
		"a path through another name":        {allowed, base + "/alias/file", nil},
		"no root at all":                     {"", outside + "/file", nil},
		"a file that does not exist":         {allowed, allowed + "/nothing", fs.ErrNotExist},
		"a file outside":                     {allowed, outside + "/file", confine.ErrOutside},
		"a file outside that does not exist": {allowed, outside + "/nothing", confine.ErrOutside},
		"a way outside that does not exist":  {allowed, outside + "/no/where", confine.ErrOutside},
		"dots that lead outside":             {allowed, allowed + "/../outside/file", confine.ErrOutside},
		"a link that leads outside":          {allowed, allowed + "/escape", confine.ErrOutside},
		"a directory that leads outside":     {allowed, allowed + "/away/file", confine.ErrOutside},
		"a new file behind such a directory": {allowed, allowed + "/away/nothing", confine.ErrOutside},
		"a directory that begins like it":    {allowed, base + "/allowed-too/file", confine.ErrOutside},
		"a pipe that nobody writes to":       {allowed, allowed + "/pipe", refused},
		"a directory":                        {allowed, allowed + "/sub", refused},
		"a file that is too large":           {"", base + "/allowed-too/large", refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := confine.Root(test.root).ReadFile(test.path, int64(len("allowed/sub/file")))
			switch {
			case test.want == nil && err != nil:
				t.Errorf("refused: %v", err)
			case errors.Is(test.want, refused):
				if err == nil || errors.Is(err, confine.ErrOutside) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("got %v", err)
				}
			case !errors.Is(err, test.want):
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
