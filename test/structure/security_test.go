// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesTestsThatExist holds the promises of docs/security.md to the tests that they name, as in
// `internal/a/b_test.go`: `TestOne`, `TestTwo`.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	promises := regexp.MustCompile("`([\\w/.-]+_test\\.go)`: (`Test\\w+`(?:, `Test\\w+`)*)").FindAllStringSubmatch(string(page), -1)
	named := 0
	for _, promise := range promises {
		code, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(promise[1])))
		if err != nil {
			t.Errorf("docs/security.md names a file that cannot be read: %v", err)
			continue
		}
		for name := range strings.SplitSeq(promise[2], ", ") {
			named++
			if !strings.Contains(string(code), "\nfunc "+strings.Trim(name, "`")+"(") {
				t.Errorf("docs/security.md names %s in %s, which does not exist", name, promise[1])
			}
		}
	}
	// A name that is written in another way must not go unchecked.
	if all := strings.Count(string(page), "`Test"); named == 0 || named != all {
		t.Errorf("%d of %d tests in docs/security.md have a file", named, all)
	}
}
