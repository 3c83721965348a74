// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

// pinned is an action by the hash of a commit, with its version for people.
var pinned = regexp.MustCompile(`^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// TestWorkflows lints the workflows. Whatever they use is what somebody has read: a tag can be moved, a commit cannot.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("there is no workflow")
	}
	var out bytes.Buffer
	linter, err := actionlint.NewLinter(&out, &actionlint.LinterOptions{})
	must(t, err)
	for _, file := range files {
		found, err := linter.LintFile(file, nil)
		if err != nil || len(found) > 0 {
			t.Errorf("actionlint says of %s (%v):\n%s", file, err, out.String())
		}
		content, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(content)) {
			use := strings.TrimPrefix(strings.TrimSpace(line), "- ")
			if strings.HasPrefix(use, "uses:") && !pinned.MatchString(use) {
				t.Errorf("%s: %q is not pinned by the hash of a commit, with its version behind it", file, use)
			}
		}
		if !strings.Contains(string(content), "\npermissions: {}\n") {
			t.Errorf("%s gives its jobs permissions that they did not ask for", file)
		}
	}
}
