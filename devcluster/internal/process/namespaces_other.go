// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package process

import (
	"errors"
	"os/exec"
)

// launch starts a command. Other systems have no namespaces to start it in.
func launch(cmd *exec.Cmd, spec Spec) error {
	if spec.Namespaces || spec.Join.PID != 0 {
		return errors.New("namespaces need Linux")
	}
	return cmd.Start()
}
