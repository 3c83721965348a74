// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package exec

import (
	"os"
	"syscall"
)

// Only Linux can adopt processes and signal them when their parent ends. On other systems, what a tool leaves in sessions of its own stays.

func adopt() error { return nil }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func self() process { return identify(os.Getpid()) }

func identify(pid int) process { return process{PID: pid} }

func (p process) alive() bool { return p.PID > 0 && syscall.Kill(p.PID, 0) == nil }

func endChildren() {}

// Hide does nothing: only Linux keeps the memory of a process from others of its user on request.
func Hide() error { return nil }
