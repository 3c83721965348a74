// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cluster

import (
	"os"
	"testing"
)

// hideFrom hides the file. Only on Linux, one goroutine can be another user, so root cannot test it elsewhere.
func hideFrom(t *testing.T, _ *Store, hidden string) (end func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root can read the files of all users")
	}
	if err := os.Chmod(hidden, 0); err != nil {
		t.Fatal(err)
	}
	return func() {}
}
