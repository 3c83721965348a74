// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
)

// TestMain makes the program of the tests the tool that provisions Clusters, too.
func TestMain(m *testing.M) {
	if isTool(os.Args[0]) {
		os.Exit(runTool(os.Args[1:]))
	}
	os.Exit(m.Run())
}
