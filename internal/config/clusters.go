// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Clusters is how Clusters are provisioned.
type Clusters struct {
	// ToolPaths says where tools are, by the name of their provisioner: rke=/usr/local/bin/rke. Default: empty, they are looked for
	// in PATH.
	ToolPaths map[string]string

	// ConfigRoot is the directory that spec.configPath has to lie in. Default: empty, any.
	ConfigRoot string

	// StateDir is where runs of tools are kept. It has to outlive the process, or runs that were under way cannot be found again.
	// Default: $XDG_STATE_HOME/windlass, else ~/.local/state/windlass, else /var/lib/windlass.
	StateDir string

	// MaxOperations is how many tools may run at the same time, from 1 to 100. Default: 5.
	MaxOperations int
}

// maxOperations bounds Clusters.MaxOperations.
const maxOperations = 100

func defaultClusters() Clusters { return Clusters{MaxOperations: 5} }

func (c *Clusters) bindFlags(fs *pflag.FlagSet) {
	fs.StringToStringVar(&c.ToolPaths, "provisioner-path", c.ToolPaths,
		"where the tool of a provisioner is, as in rke=/usr/local/bin/rke (default: in PATH)")
	fs.StringVar(&c.ConfigRoot, "config-root", c.ConfigRoot, "`directory` that spec.configPath of a Cluster has to lie in (default: any)")
	fs.StringVar(&c.StateDir, "state-dir", c.StateDir,
		"`directory` that keeps runs of provisioning tools; it has to outlive the process\n"+
			"(default $XDG_STATE_HOME/windlass, else ~/.local/state/windlass, else /var/lib/windlass)")
	fs.IntVar(&c.MaxOperations, "max-concurrent-operations", c.MaxOperations, "how many provisioning tools may run at the same time")
}

// fromEnv fills in what no flag has set.
func (c *Clusters) fromEnv(getenv func(string) string) {
	if c.StateDir != "" {
		return
	}
	switch state, home := getenv("XDG_STATE_HOME"), getenv("HOME"); {
	case filepath.IsAbs(state):
		c.StateDir = filepath.Join(state, "windlass")
	case filepath.IsAbs(home) && home != "/":
		c.StateDir = filepath.Join(home, ".local", "state", "windlass")
	default:
		c.StateDir = "/var/lib/windlass"
	}
}

func (c *Clusters) validate() []error {
	var errs []error
	known := []string{"rke", "devcluster", "k0sctl", "kind", "eksctl"}
	for name, path := range c.ToolPaths {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("--provisioner-path names %q, which is not known: there are %s", name, strings.Join(known, ", ")))
		}
		if path == "" || strings.ContainsRune(path, os.PathListSeparator) {
			errs = append(errs, fmt.Errorf("--provisioner-path gives %q for %s, which is no path of a program", path, name))
		}
	}
	if c.ConfigRoot != "" && !filepath.IsAbs(c.ConfigRoot) {
		errs = append(errs, fmt.Errorf("--config-root is %q and must be absolute", c.ConfigRoot))
	}
	if c.MaxOperations < 1 || c.MaxOperations > maxOperations {
		errs = append(errs, fmt.Errorf("--max-concurrent-operations is %d and must be from 1 to %d", c.MaxOperations, maxOperations))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
