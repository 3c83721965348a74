// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Machine is what a real node uses of the machine it runs on.
type Machine struct {
	// Runc is the path of the program that creates containers.
	Runc string
	// PluginDir is where the CNI plugins are.
	PluginDir string
	// Noded is the path of the program that is the node's first process, the shim and the pause container.
	Noded string
}

// pluginDirs are the directories in which distributions and the CNI project itself install the plugins.
func pluginDirs() []string { return []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"} }

// hiddenDirs are the directories that a real node cannot see, because it has its own in their place.
func hiddenDirs() []string { return []string{"/run", "/var/lib", "/var/log", "/var/run"} }

// Find returns what a node of the cluster in dir uses of this machine. The error names the first thing that is missing.
// Executable is the path of devcluster; noded must be next to it.
func Find(dir, executable string) (Machine, error) {
	if runtime.GOOS != "linux" {
		return Machine{}, fmt.Errorf("a real node needs Linux, but this machine runs %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return Machine{}, errors.New("a real node needs root: run devcluster as root, or omit --real-node")
	}
	for _, hidden := range hiddenDirs() {
		if strings.HasPrefix(dir+"/", hidden+"/") || strings.HasPrefix(executable, hidden+"/") {
			return Machine{}, fmt.Errorf("a real node needs state and binaries outside of %[1]s, because it has its own %[1]s: choose another --dir", hidden)
		}
	}
	m := Machine{Noded: filepath.Join(filepath.Dir(executable), "noded")}
	if _, err := os.Stat(m.Noded); err != nil {
		return Machine{}, fmt.Errorf("a real node needs the program %s: run make build, which puts it next to devcluster", m.Noded)
	}
	var err error
	if m.Runc, err = exec.LookPath("runc"); err != nil {
		return Machine{}, errors.New("a real node needs runc, which is not in PATH (Debian: apt-get install runc)")
	}
	if m.PluginDir, err = findPlugins(pluginDirs()); err != nil {
		return Machine{}, err
	}
	if _, err := controllers(cgroupRoot); err != nil {
		return Machine{}, fmt.Errorf("a real node needs cgroups below %s: %w", cgroupRoot, err)
	}
	return m, nil
}

// findPlugins returns the first directory that has all plugins, so that versions are not mixed.
func findPlugins(dirs []string) (string, error) {
	needed := []string{"ptp", "host-local", "loopback"}
	for _, dir := range dirs {
		if !slices.ContainsFunc(needed, func(plugin string) bool {
			_, err := exec.LookPath(filepath.Join(dir, plugin))
			return err != nil
		}) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("a real node needs the CNI plugins %s, which are not in any of %s (Debian: apt-get install containernetworking-plugins)",
		strings.Join(needed, ", "), strings.Join(dirs, ", "))
}
