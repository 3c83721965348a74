// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDefectsCanBePlanted applies every patch to the sources, without writing anything. "make fault-sensitivity" builds and finds them.
func TestDefectsCanBePlanted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git, which applies patches")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	defects, err := readDefects(defectFolder(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(defects) < 20 {
		t.Errorf("there are %d defects, want at least 20", len(defects))
	}
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			if err := applyPatch(t.Context(), root, d.path, "--check"); err != nil {
				t.Errorf("%v\nmake the patch again from the present sources", err)
			}
		})
	}
}
