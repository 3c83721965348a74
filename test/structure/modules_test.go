// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// modules returns the text of each module's go.mod, by the module's folder.
func modules(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, folder := range []string{".", "devcluster", "tools", "tools/chart", "tools/curves", "tools/monitoring", "tools/site", "release", "test/rke", "test/oidc", "test/kuberouter"} {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(folder), "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		out[folder] = string(raw)
	}
	return out
}

// TestModulesAreBuiltWithOneToolchain has every module name the same toolchain, so that what is checked is built as what is shipped. An
// older Go fetches it.
func TestModulesAreBuiltWithOneToolchain(t *testing.T) {
	t.Parallel()
	named := map[string][]string{}
	for folder, text := range modules(t) {
		version := versionIn(text, regexp.MustCompile(`(?m)^toolchain (\S+)$`))
		if version == "" {
			t.Errorf("%s/go.mod names no toolchain", folder)
		}
		named[version] = append(named[version], folder)
	}
	if len(named) > 1 {
		t.Errorf("the modules name more than one toolchain: %v", named)
	}
}

// TestModulesAgreeOnCryptography has every module that needs one of these libraries need the same version of it: a defect in them
// is mended everywhere or nowhere.
func TestModulesAgreeOnCryptography(t *testing.T) {
	t.Parallel()
	for _, library := range []string{"golang.org/x/crypto", "golang.org/x/net"} {
		needed := map[string][]string{}
		for folder, text := range modules(t) {
			version := versionIn(text, regexp.MustCompile(`(?m)^(?:require)?\s+`+regexp.QuoteMeta(library)+` (\S+)`))
			if version != "" {
				needed[version] = append(needed[version], folder)
			}
		}
		if len(needed) != 1 {
			t.Errorf("the modules need more than one version of %s, or none: %v", library, needed)
		}
	}
}

// versionIn returns what the expression finds, empty for nothing.
func versionIn(text string, expression *regexp.Regexp) string {
	found := expression.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}
