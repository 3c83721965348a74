// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock is an advisory file lock. The kernel releases it when its holder ends, so a crash leaves no lock behind.
type lock struct{ file *os.File }

// lockCluster waits until no other call works on the cluster.
func (s *Store) lockCluster(ctx context.Context, name string) (*lock, error) {
	l, err := acquire(ctx, filepath.Join(s.dir, "locks", name), func() {
		s.progress.Doing("waiting for another devcluster call on cluster %q", name)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot lock cluster %q: %w", name, err)
	}
	return l, nil
}

// lockStore takes the lock of the state directory. It is held only while ports are allocated, or while a kubeconfig that
// several clusters share is edited.
func (s *Store) lockStore(ctx context.Context) (*lock, error) {
	l, err := acquire(ctx, filepath.Join(s.dir, "lock"), func() {})
	if err != nil {
		return nil, fmt.Errorf("cannot lock state directory %q: %w", s.dir, err)
	}
	return l, nil
}

// acquire waits for a lock, and reports once that it waits.
func acquire(ctx context.Context, path string, waiting func()) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// A blocking flock cannot be interrupted, so this polls: Ctrl-C must work while it waits.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for announced := false; ; {
		l, err := tryAcquire(path)
		if l != nil || err != nil {
			return l, err
		}
		if !announced {
			waiting()
			announced = true
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// tryAcquire returns neither a lock nor an error if another process holds the lock.
func tryAcquire(path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && sameFile(file, path) {
		return &lock{file: file}, nil
	}
	_ = file.Close()
	if err == nil || errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, err
}

// sameFile reports whether the locked file is still the one at the path: its last holder can have removed it.
func sameFile(file *os.File, path string) bool {
	held, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// release closes the file, which releases the lock, and keeps it, because others can be waiting for it.
func (l *lock) release() { _ = l.file.Close() }

// remove releases the lock and removes its file, so that a deleted cluster leaves nothing behind.
func (l *lock) remove() {
	_ = os.Remove(l.file.Name())
	l.release()
}
