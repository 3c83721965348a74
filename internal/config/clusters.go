// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
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

	// ToolRunner says what tools run as: process, on the machine of the manager, or job, in a Pod each. Default: process.
	ToolRunner string

	// ToolImages are the images of tools for ToolRunner job, by the name of their provisioner. Default: none. Clusters of a provisioner
	// without one are refused.
	ToolImages map[string]string

	// MaxOperations is how many tools can run at the same time, from 1 to 100. Default: 5.
	MaxOperations int
}

// maxOperations bounds Clusters.MaxOperations.
const maxOperations = 100

// presets are the provisioners that are tools of that name.
func presets() []string { return []string{"rke", provisionerDevcluster} }

// provisionerDevcluster makes clusters of processes, for development.
const provisionerDevcluster = "devcluster"

// provisionerExec is the provisioner that runs what a Cluster says.
const provisionerExec = "exec"

func defaultClusters() Clusters {
	return Clusters{AllowedProvisioners: presets(), ToolIsolation: "preferred", ToolRunner: ToolRunnerProcess, MaxOperations: 5}
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
	fs.StringVar(&c.ToolRunner, "tool-runner", c.ToolRunner,
		"what provisioning tools run as: `process|job`; a job is a Pod without a token, in the namespace of the manager")
	fs.StringToStringVar(&c.ToolImages, "tool-images", c.ToolImages,
		"images of provisioning tools for --tool-runner=job, as `name=image`; Clusters of a provisioner without one are refused. They are\n"+
			"pulled with the imagePullSecrets of the manager's Pod or, if it has none, of the ServiceAccount default")
	fs.Lookup("tool-images").DefValue = "" // as above
	fs.IntVar(&c.MaxOperations, "max-concurrent-operations", c.MaxOperations, "`number` of provisioning tools that can run at the same time")
}

// The values of ToolRunner.
const (
	ToolRunnerProcess = "process"
	ToolRunnerJob     = "job"
)

// toolRunners returns the values of --tool-runner.
func toolRunners() []string { return []string{ToolRunnerProcess, ToolRunnerJob} }

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
	errs = append(errs, c.validateRunner()...)
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

func (c *Clusters) validateRunner() []error {
	var errs []error
	if !slices.Contains(toolRunners(), c.ToolRunner) {
		errs = append(errs, fmt.Errorf("--tool-runner is %q and must be one of %s", c.ToolRunner, strings.Join(toolRunners(), ", ")))
	}
	if len(c.ToolImages) > 0 && c.ToolRunner != ToolRunnerJob {
		errs = append(errs, errors.New("--tool-images needs --tool-runner=job: a process has no image"))
	}
	for name, image := range c.ToolImages {
		switch {
		case name == provisionerDevcluster:
			errs = append(errs, fmt.Errorf("--tool-images names %q, whose clusters run on the machine where they were started and would end with the Pod", name))
		case !slices.Contains(presets(), name) && name != provisionerExec:
			errs = append(errs, fmt.Errorf("--tool-images names %q, which does not exist: use some of %s, %s", name, presets()[0], provisionerExec))
		case image == "" || strings.ContainsAny(image, " \t\n"):
			errs = append(errs, fmt.Errorf("--tool-images gives %q for %s, which is not the name of an image", image, name))
		}
	}
	return errs
}

// isolations returns the values of --tool-isolation.
func isolations() []string { return []string{"required", "preferred", "none"} }
