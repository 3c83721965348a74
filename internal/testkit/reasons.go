// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
)

// word finds what may be a reason in a guide.
var word = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]+\b`)

// documented returns all words of the guides that look like a reason.
var documented = sync.OnceValues(func() (map[string]bool, error) { //nolint:gochecknoglobals // the guides are read once for all tests of a package
	guides, err := filepath.Glob(filepath.Join(Root(), "docs", "guide", "*.md"))
	if err != nil {
		return nil, err
	}
	words := make(map[string]bool)
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			return nil, err
		}
		for _, found := range word.FindAllString(string(text), -1) {
			words[found] = true
		}
	}
	return words, nil
})

// CheckDocumented reports reasons that no guide explains.
func CheckDocumented(t *testing.T, reasons ...string) {
	t.Helper()
	words, err := documented()
	must(t, err)
	for _, reason := range reasons {
		if !words[reason] {
			t.Errorf("no page in docs/guide explains the reason %s", reason)
		}
	}
}
