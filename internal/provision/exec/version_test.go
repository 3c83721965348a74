// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"testing"

	"github.com/windlass-operator/windlass/internal/provision"
)

// TestAVersionWithoutEndFillsTheMemory is about spec.exec.version: what such a command printed in ten seconds was kept in memory. This one
// is a shell's slow loop, so that the test does no harm where it fails.
func TestAVersionWithoutEndFillsTheMemory(t *testing.T) {
	s := newStage(t)
	for name, script := range map[string]string{
		"a tool that prints forever":                      "while :; do echo v1; done",
		"a tool that goes on where nobody reads any more": "trap '' PIPE; while :; do echo v1 2>/dev/null; done",
	} {
		got, err := s.Version(t.Context(), provision.Tool{Version: []string{"/bin/sh", "-c", script}})
		if err != nil || got != "v1" {
			t.Errorf("%s: the version is %q, %v", name, got, err)
		}
	}
}
