// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// TestTheCopyHasWhatTheManagerIsBuiltFrom: no defect could be planted any more when the manager had got a package in a new place.
func TestTheCopyHasWhatTheManagerIsBuiltFrom(t *testing.T) {
	t.Parallel()
	const module = "github.com/windlass-operator/windlass/"
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/windlass")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		path, ours := strings.CutPrefix(path, module)
		copied := func(part string) bool { return path == part || strings.HasPrefix(path, part+"/") }
		if ours && !slices.ContainsFunc(sourceParts(), copied) {
			t.Errorf("the package %s is not copied", path)
		}
	}
}
