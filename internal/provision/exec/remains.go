// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"syscall"

	"github.com/windlass-operator/windlass/internal/provision"
)

// endRemains kills a tool that still runs although its supervisor was killed, which only some systems prevent: no second tool must work
// beside it.
func endRemains(last record) {
	if last.Tool.PID > 1 && last.Tool.alive() {
		_ = syscall.Kill(-last.Tool.PID, syscall.SIGKILL)
	}
}

var _ provision.Provisioner = (*Runner)(nil)
