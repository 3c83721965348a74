// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"syscall"

	"github.com/windlass-operator/windlass/internal/provision"
)

// endRemains ends a tool whose supervisor was killed and which, on a system that does not end it then, still runs: a second one must
// not work beside it.
func endRemains(last record) {
	if last.Tool.PID > 1 && last.Tool.alive() {
		_ = syscall.Kill(-last.Tool.PID, syscall.SIGKILL)
	}
}

var _ provision.Provisioner = (*Runner)(nil)
