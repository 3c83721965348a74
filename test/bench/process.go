// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a program that runs in the background.
type process struct {
	name string
	pid  int
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// startProcess starts a program with its log in the rig's directory. What it inherits is little: the caller's proxies and
// clusters must not reach it.
func (r *rig) startProcess(name, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(r.dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log of %s: %w", name, err)
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(path, args...) //nolint:noctx // because it ends in order with stop, and not at once with a context
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Dir = r.dir
	p.cmd.Env = []string{"HOME=" + r.dir, "TMPDIR=" + r.dir, "PATH=" + os.Getenv("PATH")}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	p.pid = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop ends the program in order, and by force if it takes its time.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cannot stop %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("cannot stop %s in order: killed after 30 s; the end of its log:\n%s", p.name, p.tail())
	}
}

// ended returns an error if the program no longer runs.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("cannot go on without %s, which ended with code %d; the end of its log:\n%s",
			p.name, p.cmd.ProcessState.ExitCode(), p.tail())
	default:
		return nil
	}
}

// tail returns the end of the log.
func (p *process) tail() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-4000):])
}

// kubectl runs kubectl as the administrator.
func (r *rig) kubectl(ctx context.Context, args ...string) error {
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, r.program("kubectl"), append(args, "--kubeconfig", filepath.Join(r.dir, "admin.kubeconfig"))...)
	command.Stderr = &stderr
	command.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH")}
	if err := command.Run(); err != nil {
		return fmt.Errorf("cannot run kubectl %v: %w: %s", args, err, stderr.String())
	}
	return nil
}

// freeAddress returns an address on which nobody listens.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}

func (r *rig) program(name string) string { return filepath.Join(r.root, "bin", "k8s", name) }
