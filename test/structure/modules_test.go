// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestModulesAreBuiltWithOneToolchain has every module name the same toolchain, so that what is checked is built as what is shipped. An
// older Go fetches it.
func TestModulesAreBuiltWithOneToolchain(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^toolchain (\S+)$`)
	named := map[string]string{}
	for _, module := range []string{".", "devcluster", "tools", "test/rke"} {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(module), "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		found := line.FindSubmatch(raw)
		if found == nil {
			t.Errorf("%s/go.mod names no toolchain", module)
			continue
		}
		named[string(found[1])] = module
	}
	if len(named) > 1 {
		t.Errorf("the modules name more than one toolchain: %v", named)
	}
}
