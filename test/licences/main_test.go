// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	apache, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	const own = "You may use this on Sundays only, and must be nice to the author, who decides what that means.\n"
	for name, test := range map[string]struct {
		files   map[string]string
		want    []string
		refused string
	}{
		"the licence of this repository is allowed": {map[string]string{"LICENSE.txt": string(apache)}, []string{"Apache-2.0"}, ""},
		"a module without a licence is refused":     {map[string]string{"README.md": string(apache)}, nil, "it has no licence"},
		"code that is called like a licence is not one": {
			map[string]string{"license.go": own, "COPYING": string(apache)}, []string{"Apache-2.0"}, "",
		},
		"a licence that nobody knows is refused": {
			map[string]string{"LICENSE": own}, nil, "LICENSE: only 0 % of it is the text of a known licence",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := read(dir)
			if err == nil {
				err = check(got, false)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the licences differ (-want +got):\n%s", diff)
			}
			if (err == nil) != (test.refused == "") || err != nil && err.Error() != test.refused {
				t.Errorf("it was refused with %v, want %q", err, test.refused)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := check([]string{"MIT", "GPL-3.0"}, false); err == nil || err.Error() != "GPL-3.0 is not among the licences that are allowed" {
		t.Errorf("what is shipped is refused with %v", err)
	}
	if err := check([]string{"MIT", "GPL-3.0"}, true); err != nil {
		t.Errorf("what is only run is refused with %v", err)
	}
}
