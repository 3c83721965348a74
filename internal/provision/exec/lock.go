// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// take takes the lock without waiting, and returns the file that holds it. It returns nil if another process holds the lock.
func take(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, noRoom(err)
	}
	if err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil //nolint:nilnil // that the lock is taken is not an error
		}
		return nil, err
	}
	return file, nil
}

// takeSoon is take for a lock that may be taken for a moment only: by somebody who looks whether it is, or by a child of another start that has not
// become its program yet.
func takeSoon(ctx context.Context, path string, how int) (*os.File, error) {
	var file *os.File
	moments := wait.Backoff{Duration: 5 * time.Millisecond, Steps: 10}
	err := wait.ExponentialBackoffWithContext(ctx, moments, func(context.Context) (done bool, err error) {
		file, err = take(path, how)
		return file != nil, err
	})
	if wait.Interrupted(err) {
		return nil, ctx.Err()
	}
	return file, err
}

// held reports whether a supervisor holds the lock.
func held(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	file, err := take(path, syscall.LOCK_SH)
	if err != nil || file == nil {
		return file == nil && err == nil, err
	}
	return false, file.Close()
}
