// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// defect is a patch that breaks something.
type defect struct {
	name, path string
	// about is a sentence that says what is broken.
	about string
	// args are the arguments with which the campaign has to find it.
	args []string
}

// defectFolder is where the defects are.
func defectFolder(root string) string {
	return filepath.Join(root, "test", "fault", "testdata", "defects")
}

// readDefects reads all defects of a folder. A patch begins with the sentence and, after an empty line, "fault" with the arguments.
func readDefects(dir string) ([]defect, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("cannot find defects in %q: %w", dir, err)
	}
	var out []defect
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read a defect: %w", err)
		}
		d := defect{name: strings.TrimSuffix(filepath.Base(path), ".patch"), path: path}
		about, rest, _ := strings.Cut(string(raw), "\n\n")
		args, _, ok := strings.Cut(rest, "\n\n")
		args, found := strings.CutPrefix(args, "fault ")
		if !ok || !found || strings.Contains(about, "\n") {
			return nil, fmt.Errorf("cannot read defect %q: it must begin with a sentence, an empty line, and a line \"fault ARGUMENTS\"", path)
		}
		d.about, d.args = about, strings.Fields(args)
		out = append(out, d)
	}
	return out, nil
}
