// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// startProgram starts a program that is stopped with the control plane, if it has not been before.
func (r *controlPlane) startProgram(ctx context.Context, name, path string, args ...string) (*rig.Process, error) {
	command := r.Command(context.WithoutCancel(ctx), path, args...) // because it ends in order, and not at once with the context
	command.Dir = r.Dir
	p, err := rig.Start(name, r.log(name), command)
	if err != nil {
		return nil, err
	}
	r.others = append(r.others, p)
	return p, nil
}

// log returns the path of the log of a program.
func (r *controlPlane) log(name string) string { return filepath.Join(r.Dir, name+".log") }

// endInOrder ends a program, by force if it takes its time.
func endInOrder(p *rig.Process) error {
	_, err := p.End(syscall.SIGTERM, 30*time.Second)
	return err
}
