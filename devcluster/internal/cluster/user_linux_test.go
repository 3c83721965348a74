// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// nobody is a user who owns nothing on any machine.
const nobody = 65534

// hideFrom makes this goroutine use files as somebody to whom everything of the store belongs but the hidden file. That is another user if root runs the
// test, who could read it otherwise; the caller ends it.
func hideFrom(t *testing.T, store *Store, hidden string) (end func()) {
	t.Helper()
	if err := os.Chmod(hidden, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return func() {}
	}
	err := errors.Join(os.Chown(filepath.Dir(store.dir), nobody, nobody), filepath.WalkDir(store.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == hidden {
			return err
		}
		return os.Chown(path, nobody, nobody)
	}))
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := unix.SetfsuidRetUid(0); err == nil {
			runtime.UnlockOSThread()
		}
	}
}
