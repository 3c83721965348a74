// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Result is how a program ended.
type Result struct {
	// Code is the exit code, or -1 for a program that did not exit: then Err tells why.
	Code     int
	Out, Err string
}

// Command returns a command in the environment of the cluster: nothing of the developer's own clusters and proxies gets through.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append([]string{
		"HOME=" + c.Dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + c.Dir,
		"KUBECONFIG=" + c.Admin, "DEVCLUSTER_DIR=" + filepath.Join(c.Dir, "devcluster"),
	}, c.Env...)
	if c.As != nil {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: c.As}
	}
	return command
}

// Run runs a program to its end.
func (c *Cluster) Run(ctx context.Context, name string, args ...string) Result {
	return Finish(c.Command(ctx, name, args...))
}

// Finish runs a command to its end.
func Finish(command *exec.Cmd) Result {
	var out, stderr bytes.Buffer
	command.Stdout, command.Stderr = &out, &stderr
	if err := command.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			return Result{-1, out.String(), err.Error()}
		}
	}
	return Result{command.ProcessState.ExitCode(), out.String(), stderr.String()}
}
