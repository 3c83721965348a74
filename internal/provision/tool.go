// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tool is a program that provisions clusters, and how it is called. Values replaces placeholders in arguments, values of the environment
// and names of files. No shell is involved.
type Tool struct {
	// Name is the name of a preset, or "exec".
	Name string
	// Up, Remove and Version are a program and its arguments each. Version may be empty.
	Up, Remove, Version []string
	// AgentFlags are added to Up and Remove if there is an SSH agent.
	AgentFlags []string
	// Env is added to the environment, as NAME=value.
	Env []string
	// PassEnv are the variables that the tool gets from the manager's environment, if they are set there.
	PassEnv []string
	// ConfigName is the file name of the configuration in the working directory.
	ConfigName string
	// StateFiles are patterns of the files, in the directory of the configuration, that the tool needs next time.
	StateFiles []string
	// KubeconfigFile is the file there that the tool writes the kubeconfig to; empty if it writes none.
	KubeconfigFile string
	// KeepsDaemons says that processes which the tool leaves behind, in sessions of their own, are the cluster.
	KeepsDaemons bool
}

// Arguments that several presets share.
const (
	configFlag     = "--config"
	configPlace    = "{config}"
	kubeconfigName = "kube_config_{configname}"
	// rkeState is the one file that RKE reads and writes: a pattern would match those of other clusters in the same directory.
	rkeState = "{configstem}.rkestate"
)

// Preset returns the tool of that name.
func Preset(name string) (Tool, error) {
	switch name {
	case "rke":
		return Tool{
			Name: name, ConfigName: "cluster.yml",
			Up:             []string{"rke", "up", configFlag, configPlace},
			Remove:         []string{"rke", "remove", "--force", configFlag, configPlace},
			Version:        []string{"rke", "--version"},
			AgentFlags:     []string{"--ssh-agent-auth"},
			StateFiles:     []string{rkeState},
			KubeconfigFile: kubeconfigName,
			PassEnv:        []string{"RANCHER_METADATA_URL", "DEVCLUSTER_DIR"},
			KeepsDaemons:   true, // RKE leaves none; a stand-in that runs the cluster on this machine does
		}, nil
	case "devcluster":
		return Tool{
			Name: name, ConfigName: "cluster.yml",
			Up:             []string{"devcluster", "up", configFlag, configPlace},
			Remove:         []string{"devcluster", "remove", "--force", configFlag, configPlace},
			Version:        []string{"devcluster", "--version"},
			KubeconfigFile: kubeconfigName,
			PassEnv:        []string{"DEVCLUSTER_DIR"},
			KeepsDaemons:   true,
		}, nil
	}
	return Tool{}, fmt.Errorf("cannot find a preset %q", name)
}

// Values are what placeholders stand for in one run: {config} for the path of the configuration, {configname} for its file name, {configstem} for
// that without its extension, {dir} for its directory, {name} for the name of the cluster, and {knownhosts} for the path of the file with the host
// keys of the machines.
type Values struct {
	Name, Config, KnownHosts string
}

// Expand replaces the placeholders in a text.
func (v Values) Expand(text string) string {
	return v.expand(text, func(value string) string { return value })
}

// Pattern replaces the placeholders in a pattern of file names. What they stand for matches only itself.
func (v Values) Pattern(pattern string) string {
	return v.expand(pattern, strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace)
}

func (v Values) expand(text string, quote func(value string) string) string {
	name := path.Base(v.Config)
	return strings.NewReplacer(
		configPlace, quote(v.Config), "{configname}", quote(name), "{configstem}", quote(strings.TrimSuffix(name, path.Ext(name))),
		"{name}", quote(v.Name), "{dir}", quote(path.Dir(v.Config)), "{knownhosts}", quote(v.KnownHosts),
	).Replace(text)
}

// Argv returns the call for an action.
func (t Tool) Argv(action Action, values Values, agent bool) []string {
	template := t.Up
	if action == Remove {
		template = t.Remove
	}
	argv := make([]string, 0, len(template)+len(t.AgentFlags))
	for _, argument := range template {
		argv = append(argv, values.Expand(argument))
	}
	if agent {
		argv = append(argv, t.AgentFlags...)
	}
	return argv
}

// KubeconfigPath returns where the tool writes the kubeconfig, empty if it writes none.
func (t Tool) KubeconfigPath(name, configPath string) string {
	if t.KubeconfigFile == "" {
		return ""
	}
	return path.Join(path.Dir(configPath), Values{Name: name, Config: configPath}.Expand(t.KubeconfigFile))
}

// Keeps reports whether a file in the directory of the configuration is one that the tool needs next time.
func (t Tool) Keeps(values Values, file string) bool {
	return slices.ContainsFunc(t.StateFiles, func(pattern string) bool { return matches(values.Pattern(pattern), file) })
}

// Moved returns state that the tool left beside one configuration, with the names by which it looks for it beside another: many name their state by the
// configuration. What has such a name already stays.
func (t Tool) Moved(state map[string][]byte, from, to Values) map[string][]byte {
	moved := maps.Clone(state)
	for _, file := range slices.Sorted(maps.Keys(state)) {
		for _, pattern := range t.StateFiles {
			name, ok := renamed(pattern, file, from, to)
			if _, there := moved[name]; !ok || there {
				continue
			}
			moved[name] = state[file]
			if !t.Keeps(to, file) {
				delete(moved, file)
			}
		}
	}
	return moved
}

// renamed returns the name that a file which the pattern matches has beside another configuration. It reports whether the pattern matches both.
func renamed(pattern, file string, from, to Values) (string, bool) {
	head := pattern
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		head = pattern[:i]
	}
	rest, ok := strings.CutPrefix(file, from.Expand(head))
	name := to.Expand(head) + rest
	return name, ok && matches(from.Pattern(pattern), file) && matches(to.Pattern(pattern), name)
}

// matches reports whether a pattern of file names, which may be none, matches a file.
func matches(pattern, file string) bool {
	matched, err := path.Match(pattern, file)
	return matched && err == nil
}

// Check returns an error if the tool cannot leave its files where the description says, for a Cluster of that name with that configuration.
func (t Tool) Check(name, configPath string) error {
	values := Values{Name: name, Config: configPath}
	for _, pattern := range t.StateFiles {
		if err := checkPattern(values.Pattern(pattern)); err != nil {
			return fmt.Errorf("cannot use %q in exec.stateFiles: %w", pattern, err)
		}
	}
	if file := values.Expand(t.KubeconfigFile); file != "" && !filepath.IsLocal(file) {
		return fmt.Errorf("cannot use %q as exec.kubeconfigFile: it is not below the directory of the configuration", t.KubeconfigFile)
	}
	return nil
}

func checkPattern(pattern string) error {
	if strings.Contains(pattern, "/") {
		return errors.New("it names a directory")
	}
	_, err := path.Match(pattern, "")
	return err
}
