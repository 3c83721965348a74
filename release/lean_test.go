// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// limit is how large the program may be: what an image is promised to stay below, uncompressed.
const limit = 60_000_000

// TestProgramIsLean reads the built program. If it can run templates, the linker has kept every exported method of every type.
func TestProgramIsLean(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../bin/windlass")
	if err != nil {
		t.Skip("needs bin/windlass: run make build")
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	must(t, err)
	if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-tags" && strings.Contains(s.Value, "grpcnotrace") }) {
		t.Skip("bin/windlass was not built by make, which sets the tag grpcnotrace")
	}
	if len(content) > limit {
		t.Errorf("it has %d bytes, more than %d", len(content), limit)
	}
	if bytes.Contains(content, []byte("text/template.(*state).evalField")) {
		t.Error("it can run templates: go build -tags grpcnotrace -ldflags=-dumpdep -o /dev/null ./cmd/windlass says why")
	}
}
