// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kept is where the results that docs/performance.md quotes are.
const kept = "../../docs/measured"

const sample = `{"scenarios": [{"title": "t", "curves": [
	{"name": "windlass: apply", "unit": "s", "over": "nodes", "exponent": 0.987, "points": [{"size": 1000, "values": [1.1, 1, 1.2]}, {"size": 5000, "values": [5]}]},
	{"name": "resident", "unit": "MiB", "over": "nodes", "exponent": 0.5, "points": [{"size": 1000, "values": [60]}, {"size": 5000, "values": [140]}]}]}]}`

func TestPicturesAreDrawn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "growth-nodes.json"), []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{folder}); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"growth-nodes-seconds.svg": {"<svg", "windlass: apply, exponent 0.99", ">1000<", ">5000<", ">nodes<"},
		"growth-nodes-mib.svg":     {"<svg", "resident, exponent 0.50", ">MiB<"},
	} {
		picture, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !bytes.Contains(picture, []byte(want)) {
				t.Errorf("%s does not have %q", name, want)
			}
		}
	}
}

func TestWhatCannotBeDrawnIsSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := run([]string{folder}); err == nil || !strings.Contains(err.Error(), "make bench-report") {
		t.Errorf("an empty folder: %v", err)
	}
	zero := strings.Replace(sample, "[60]", "[0]", 1)
	if err := os.WriteFile(filepath.Join(folder, "growth-nodes.json"), []byte(zero), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{folder}); !errors.Is(err, errNothing) {
		t.Errorf("a value of zero: %v", err)
	}
}

// TestPicturesAreThoseOfTheResults holds each picture that is shown to the results beside it.
func TestPicturesAreThoseOfTheResults(t *testing.T) {
	t.Parallel()
	folder, err := os.OpenRoot(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	files, err := fs.Glob(folder.FS(), "growth-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no results: %v", err)
	}
	for _, file := range files {
		drawn, err := pictures(folder, file)
		if err != nil {
			t.Fatal(err)
		}
		for name, picture := range drawn {
			if shown, err := folder.ReadFile(name); err != nil || !bytes.Equal(shown, picture) {
				t.Errorf("%s is not the picture of its results (%v): make bench-pictures draws it", name, err)
			}
		}
	}
}
