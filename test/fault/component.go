// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// The names of the parts of a control plane, and the signal of a power cut.
const (
	apiServer   = "kube-apiserver"
	etcd        = "etcd"
	controllers = "kube-controller-manager"
	scheduler   = "kube-scheduler"
	simulator   = "kwok-controller"
	kill        = syscall.SIGKILL
)

// components returns the names of all parts.
func components() []string { return []string{apiServer, etcd, controllers, scheduler, simulator} }

// killComponent kills a part of the control plane as a power cut would, and starts it again.
func (l *lane) killComponent(ctx context.Context, name string) error {
	if err := l.signalComponent(name, kill); err != nil {
		return err
	}
	return l.heal(ctx)
}

// heal starts every part of the control plane that does not run. Those that a scenario needs start anew: they would back off for up to
// a minute, which is not what is tested.
func (l *lane) heal(ctx context.Context) error {
	for _, name := range []string{controllers, simulator} {
		if err := l.signalComponent(name, kill); err != nil {
			return err
		}
	}
	if done := l.Run(ctx, l.Devcluster, "up", "--name", l.Name, "--kubeconfig", l.Admin); done.Code != 0 {
		return fmt.Errorf("cannot start the control plane again: %s", done.Err)
	}
	return nil
}

// freezeComponent lets a part of the control plane stand still for a time.
func (l *lane) freezeComponent(ctx context.Context, name string, long time.Duration) error {
	if err := l.signalComponent(name, syscall.SIGSTOP); err != nil {
		return err
	}
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
	return l.signalComponent(name, syscall.SIGCONT)
}

// signalComponent sends a signal to a part of the control plane. One that has ended gets none.
func (l *lane) signalComponent(name string, signal syscall.Signal) error {
	pid, err := l.componentPID(name)
	if err != nil {
		return err
	}
	if signal == kill {
		l.note(name, pid)
	}
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cannot send signal %q to %s: %w", signal, name, err)
	}
	return nil
}

// note notes what a process has cost that is going to end.
func (l *lane) note(name string, pid int) {
	l.counting.Lock()
	defer l.counting.Unlock()
	l.spent[name] += rig.CPUTime(pid)
}

// componentPID returns the process of a part of the control plane, which devcluster has on record.
func (l *lane) componentPID(name string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(l.Dir, "devcluster", "clusters", l.Name, "run", name+".json"))
	if err != nil {
		return 0, fmt.Errorf("cannot find %s: %w", name, err)
	}
	var record struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(raw, &record); err != nil || record.PID == 0 {
		return 0, fmt.Errorf("cannot find %s: its record is %q", name, raw)
	}
	return record.PID, nil
}
