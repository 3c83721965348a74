// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/provision/contract"
)

// TestContract runs the suite of the contract with tools that are processes of this machine.
func TestContract(t *testing.T) {
	contract.Run(t, func(t *testing.T) contract.Subject {
		t.Helper()
		root := filepath.Join(t.TempDir(), "root")
		return contract.Subject{
			Command: []string{os.Args[0], "contract"}, Hidden: "AWS_SECRET_ACCESS_KEY",
			Again: func(t *testing.T) provision.Provisioner { t.Helper(); return watched(t, root) },
			Crash: func(t *testing.T, cluster string) {
				t.Helper()
				var begun record
				if known, err := read(layout{dir: filepath.Join(root, cluster)}.record(), &begun); err != nil || !known {
					t.Fatalf("there is no record: %v", err)
				}
				if err := syscall.Kill(begun.Supervisor.PID, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// watched returns a Runner that tells of changes until the test ends.
func watched(t *testing.T, root string) *Runner {
	t.Helper()
	runner, err := New(Options{
		Root: root, Isolation: IsolationPreferred, Limit: 2, Supervisor: []string{os.Args[0], "supervise"},
		Now:         time.Now,
		Environment: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "AWS_SECRET_ACCESS_KEY=no"} },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = runner.Watch(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return runner
}
