// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// command runs a program in a directory, and returns what it printed as an error if it fails.
func command(ctx context.Context, dir, name string, args ...string) error {
	run := exec.CommandContext(ctx, name, args...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run %s %v: %w: %s", name, args, err, out)
	}
	return nil
}
