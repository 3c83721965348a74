// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"errors"
	"testing"
)

func TestHalfStarted(t *testing.T) {
	t.Parallel()
	const id = "30db2bcd7d12"
	for text, want := range map[string]bool{
		"Error response from daemon: id already in use":                                                  true, // a crash between containerd's record and its task
		"failed to create task: task " + id + ": already exists":                                         true,
		"mkdir /run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby/" + id + ": file exists": true,
		"failed to create shim: id exists: " + id:                                                        true,
		"driver failed on endpoint web: address already in use":                                          false,
		"Conflict. The container name \"/web\" is already in use by container " + id:                     false,
		"mkdir /data: file exists":                                                                       false, // of something else
	} {
		if got := halfStarted(id, errors.New(text)); got != want {
			t.Errorf("halfStarted(%q) = %t, want %t", text, got, want)
		}
	}
}
