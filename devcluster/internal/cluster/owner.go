// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// readFile says whose file it is that this user may not read: what sudo writes into the state directory of a user is root's.
func readFile(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %s", err, belonging(path))
	}
	return raw, err
}

// belonging names the owner of a file, or of the directory that hides it.
func belonging(path string) string {
	info, err := os.Stat(path)
	for errors.Is(err, fs.ErrPermission) {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	if err != nil {
		return err.Error()
	}
	uid, _ := ownerOf(info)
	owner := "user " + strconv.Itoa(uid)
	if known, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		owner = known.Username
	}
	return fmt.Sprintf("%s belongs to %s, run devcluster as that user", path, owner)
}

// keepOwner gives a new file the owner of the one that it replaces, if there is one.
func keepOwner(replaced string) func(*os.File) error {
	return func(file *os.File) error {
		info, err := os.Stat(replaced)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		err = file.Chown(ownerOf(info))
		if errors.Is(err, fs.ErrPermission) {
			// Only root can give a file away. Who may replace the file of another user gets one of their own.
			return nil
		}
		return err
	}
}

// ownerOf returns the user and the group of a file.
func ownerOf(info fs.FileInfo) (uid, gid int) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return os.Getuid(), os.Getgid()
	}
	return int(stat.Uid), int(stat.Gid)
}
