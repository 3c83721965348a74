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
	// Runc is the path of the program that makes containers.
	Runc string
	// PluginDir is where the CNI plugins are.
	PluginDir string
	// Noded is the path of the program that is the node's first process, the shim and the pause container.
	Noded string
}

// pluginDirs are where distributions and the CNI project itself put the plugins.
func pluginDirs() []string { return []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"} }

// hiddenDirs are those that a real node has others in the place of.
func hiddenDirs() []string { return []string{"/run", "/var/lib", "/var/log", "/var/run"} }

// Find returns what a node of the cluster in dir can use of this machine. The error is one sentence that names what is
// missing first. Executable is the path of devcluster, which noded lies beside.
func Find(dir, executable string) (Machine, error) {
	if runtime.GOOS != "linux" {
		return Machine{}, fmt.Errorf("a real node needs Linux, and this is %s", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return Machine{}, errors.New("a real node needs root: run devcluster as root or leave out --real-node")
	}
	for _, hidden := range hiddenDirs() {
		if strings.HasPrefix(dir+"/", hidden+"/") || strings.HasPrefix(executable, hidden+"/") {
			return Machine{}, fmt.Errorf("a real node needs state and binaries outside of %[1]s, because it sees a %[1]s of its own: choose another --dir", hidden)
		}
	}
	m := Machine{Noded: filepath.Join(filepath.Dir(executable), "noded")}
	if _, err := os.Stat(m.Noded); err != nil {
		return Machine{}, fmt.Errorf("a real node needs the program %s, which make build puts beside devcluster", m.Noded)
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

// findPlugins returns the first directory with all plugins in it; those of two versions are not mixed.
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
	return "", fmt.Errorf("a real node needs the CNI plugins %s, which are in none of %s (Debian: apt-get install containernetworking-plugins)",
		strings.Join(needed, ", "), strings.Join(dirs, ", "))
}
