// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the components, which are also the names of their symlinks.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwokController    = "kwok-controller"
	nodeInit          = "node-init"
	containerd        = "containerd"
	kubelet           = "kubelet"
)

// commands are the names under which this executable is started.
func commands() []string {
	return []string{etcd, apiServer, controllerManager, scheduler, kwokController, containerd, kubelet, "kubectl", "kwokctl"}
}

// binaries returns the directory with the symlinks to this executable: k8s next to it, as the build creates it, or one in
// the state directory, so that an executable that was copied elsewhere works too.
func (s *Store) binaries() (string, error) {
	executable, err := executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(executable), "k8s")
	if linksTo(beside, executable) {
		return beside, nil
	}
	own := filepath.Join(s.dir, "bin")
	if linksTo(own, executable) {
		return own, nil
	}
	if err := link(own, executable, commands()); err != nil {
		return "", fmt.Errorf("cannot link the components in %q: %w", own, err)
	}
	return own, nil
}

// executable returns the path of this program with links resolved.
func executable() (string, error) {
	called, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find this executable: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(called)
	if err != nil {
		return "", fmt.Errorf("cannot find this executable %q, was it replaced while it ran? run it again: %w", called, err)
	}
	return resolved, nil
}

// linksTo reports whether every component in dir is this executable: any other can have another version.
func linksTo(dir, executable string) bool {
	want, err := os.Stat(executable)
	if err != nil {
		return false
	}
	for _, command := range commands() {
		got, err := os.Stat(filepath.Join(dir, command))
		if err != nil || !os.SameFile(want, got) {
			return false
		}
	}
	return true
}

// link creates the symlinks. It replaces those of an executable that has moved.
func link(dir, executable string, commands []string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, command := range commands {
		// Renamed into place, because another cluster can be starting from the same directory at the same time.
		temp := filepath.Join(dir, fmt.Sprintf(".%s-%d", command, os.Getpid()))
		if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(executable, temp); err != nil {
			return err
		}
		if err := os.Rename(temp, filepath.Join(dir, command)); err != nil {
			return err
		}
	}
	return nil
}
