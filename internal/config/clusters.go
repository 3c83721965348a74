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
	"k8s.io/apimachinery/pkg/util/validation"
)

// Clusters is how Clusters are provisioned.
type Clusters struct {
	// AllowedProvisioners are the provisioners that Clusters can name. Default: all presets. The provisioner exec is not among them: it
	// runs any program with the rights of this process.
	AllowedProvisioners []string

	// ToolPaths says where tools are, by the name of their provisioner: rke=/usr/local/bin/rke. Default: empty, they are looked up
	// in PATH.
	ToolPaths map[string]string

	// ConfigRoot is the directory that spec.configPath must be in. Default: empty, any.
	ConfigRoot string

	// ConfigNamespaces are the namespaces, besides that of Windlass, in which Clusters can name Secrets and ConfigMaps. Default: none.
	ConfigNamespaces []string

	// StateDir is where runs of tools are kept. It must outlive the process, or runs that were under way cannot be found again.
	// Default: $XDG_STATE_HOME/windlass, else ~/.local/state/windlass, else /var/lib/windlass.
	StateDir string

	// ToolIsolation says whether tools are kept from files that they do not need: required, preferred, which runs them anyway where this
	// machine cannot isolate them, or none. Default: preferred.
	ToolIsolation string

	// MaxOperations is how many tools can run at the same time, from 1 to 100. Default: 5.
	MaxOperations int
}

// maxOperations bounds Clusters.MaxOperations.
const maxOperations = 100

// presets are the provisioners that are tools of that name.
func presets() []string { return []string{"rke", "devcluster"} }

// provisionerExec is the provisioner that runs what a Cluster says.
const provisionerExec = "exec"

func defaultClusters() Clusters {
	return Clusters{AllowedProvisioners: presets(), ToolIsolation: "preferred", MaxOperations: 5}
}

func (c *Clusters) bindFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&c.AllowedProvisioners, "allowed-provisioners", c.AllowedProvisioners,
		"`names` of the provisioners that Clusters can use; exec runs any program with the rights of the manager")
	fs.StringToStringVar(&c.ToolPaths, "provisioner-path", c.ToolPaths,
		"path of a provisioner's tool as `name=path`, as in rke=/usr/local/bin/rke (default: looked up in PATH)")
	fs.Lookup("provisioner-path").DefValue = "" // or the help would say that the default is an empty list
	fs.StringVar(&c.ConfigRoot, "config-root", c.ConfigRoot, "`directory` that spec.configPath of a Cluster must be in (default: any)")
	fs.StringSliceVar(&c.ConfigNamespaces, "config-namespaces", c.ConfigNamespaces,
		"`namespaces`, besides that of the manager, in which Clusters can name Secrets and ConfigMaps")
	fs.StringVar(&c.StateDir, "state-dir", c.StateDir,
		"`directory` for runs of provisioning tools; it must outlive the process\n"+
			"(default $XDG_STATE_HOME/windlass, else ~/.local/state/windlass, else /var/lib/windlass)")
	fs.StringVar(&c.ToolIsolation, "tool-isolation", c.ToolIsolation,
		"whether provisioning tools are kept from the files of the manager and of other Clusters: `required|preferred|none`; with preferred\n"+
			"they run anyway where the machine cannot do it")
	fs.IntVar(&c.MaxOperations, "max-concurrent-operations", c.MaxOperations, "`number` of provisioning tools that can run at the same time")
}

// fromEnv fills in what no flag set.
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
	for _, name := range c.AllowedProvisioners {
		if !slices.Contains(presets(), name) && name != provisionerExec {
			errs = append(errs, fmt.Errorf("--allowed-provisioners names %q, which does not exist: use some of %s, %s",
				name, strings.Join(presets(), ", "), provisionerExec))
		}
	}
	for name, path := range c.ToolPaths {
		if !slices.Contains(presets(), name) {
			errs = append(errs, fmt.Errorf("--provisioner-path names %q, which does not exist: use one of %s", name, strings.Join(presets(), ", ")))
		}
		if path == "" || strings.ContainsRune(path, os.PathListSeparator) {
			errs = append(errs, fmt.Errorf("--provisioner-path gives %q for %s, which is not the path of a program", path, name))
		}
	}
	if c.ConfigRoot != "" && !filepath.IsAbs(c.ConfigRoot) {
		errs = append(errs, fmt.Errorf("--config-root is %q and must be absolute", c.ConfigRoot))
	}
	for _, namespace := range c.ConfigNamespaces {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("--config-namespaces names %q, which is not a namespace: %s", namespace, problems[0]))
		}
	}
	if !slices.Contains(isolations(), c.ToolIsolation) {
		errs = append(errs, fmt.Errorf("--tool-isolation is %q and must be one of %s", c.ToolIsolation, strings.Join(isolations(), ", ")))
	}
	if c.MaxOperations < 1 || c.MaxOperations > maxOperations {
		errs = append(errs, fmt.Errorf("--max-concurrent-operations is %d and must be from 1 to %d", c.MaxOperations, maxOperations))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// isolations returns the values of --tool-isolation.
func isolations() []string { return []string{"required", "preferred", "none"} }
