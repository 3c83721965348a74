// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/windlass-operator/windlass/devcluster/internal/progress"
)

// Store is a state directory with any number of clusters in it.
type Store struct {
	dir      string
	progress *progress.Reporter
}

// State is what a later call must know about a cluster and cannot observe.
type State struct {
	Name string `json:"name"`
	// Version is the Kubernetes version of the last start.
	Version string `json:"version"`
	// Config is the absolute path of the cluster.yml that the cluster was created from, empty for one created by name.
	Config string `json:"config,omitempty"`
	Ports  Ports  `json:"ports"`
	// Kubeconfigs are the files outside the state directory that hold an entry for this cluster.
	Kubeconfigs []string `json:"kubeconfigs,omitempty"`
	// RealNode is the name of the real node. A cluster without one has the empty name.
	RealNode string `json:"realNode,omitempty"`
	// Controllers are those that kube-controller-manager runs, as its flag of that name has them. Empty is its default.
	Controllers string `json:"controllers,omitempty"`
	// Nodes is the number of nodes after the last call, for the list of stopped clusters.
	Nodes int `json:"nodes"`
	// Complete is set at the end of the first start. An incomplete cluster is created again, never repaired.
	Complete bool `json:"complete"`
}

// controllers returns the controllers as kube-controller-manager's flag wants them.
func (s State) controllers() string { return cmp.Or(s.Controllers, "*") }

// sameOrigin keeps two files with the same cluster_name from changing one cluster in turn, and refuses what only a new cluster can have.
func sameOrigin(state State, request Request) error {
	if state.Complete && request.Controllers != "" && request.Controllers != state.controllers() {
		return fmt.Errorf("cluster %q was created with --controllers=%q: leave out --controllers to keep them, or run 'devcluster down --name %s' first",
			state.Name, state.controllers(), state.Name)
	}
	if !state.Complete || state.Config == request.Config {
		return nil
	}
	if state.Config == "" {
		return fmt.Errorf("cluster %q was created without a file: give the file another cluster_name, or run 'devcluster down --name %s' first",
			state.Name, state.Name)
	}
	if request.Config == "" {
		return fmt.Errorf("cluster %q was created from %s: run 'devcluster up --config %s', or choose another name", state.Name, state.Config, state.Config)
	}
	return fmt.Errorf("cluster %q was created from %s: give %s another cluster_name, or run 'devcluster remove --force --config %s' first",
		state.Name, state.Config, request.Config, state.Config)
}

// Open opens a state directory, and creates it if it does not exist.
func Open(dir string, report *progress.Reporter) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find state directory %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create state directory %q: %w", dir, err)
	}
	// Processes are identified by their working directory, which the kernel reports with links resolved.
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open state directory %q: %w", dir, err)
	}
	return &Store{dir: resolved, progress: report}, nil
}

// maxName leaves room for what Kubernetes and certificates add to a name, within the 63 characters of a label.
const maxName = 50

// ValidateName returns what is wrong with the name of a cluster.
func ValidateName(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("cluster name %q is not usable: %s", name, strings.Join(problems, "; "))
	}
	if len(name) > maxName {
		return fmt.Errorf("cluster name %q is not usable: it has %d characters, at most %d are allowed", name, len(name), maxName)
	}
	return nil
}

// ErrNotFound means that the state directory has no cluster of that name.
var ErrNotFound = errors.New("no such cluster")

// ErrIncomplete means that the first start of a cluster was interrupted.
var ErrIncomplete = errors.New("the creation of the cluster was never completed")

// clusterDir must get a validated name.
func (s *Store) clusterDir(name string) string { return filepath.Join(s.dir, "clusters", name) }

// statePath returns the file that makes a directory a cluster. A directory without it is left from a first start.
func (s *Store) statePath(name string) string {
	return filepath.Join(s.clusterDir(name), "cluster.json")
}

// Names returns the clusters that have a directory, sorted, even if their state cannot be read.
func (s *Store) Names() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "clusters"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// load distinguishes a missing state from a damaged one: the first is created again, about the second the user decides.
func (s *Store) load(name string) (State, error) {
	raw, err := readFile(s.statePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	if err != nil {
		return State{}, fmt.Errorf("cannot read the state of cluster %q: %w", name, err)
	}
	var state State
	if err := json.Unmarshal(raw, &state); err != nil {
		return State{}, fmt.Errorf("cannot read the state of cluster %q in %q, run 'devcluster down --name %s' to start over: %w",
			name, s.statePath(name), name, err)
	}
	return state, nil
}

// save must be called before the recorded change takes effect: after a crash there can be a record without the object, but
// never an object without a record.
func (s *Store) save(state State) error {
	raw, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the state of cluster %q: %w", state.Name, err)
	}
	if err := writeFile(s.statePath(state.Name), raw); err != nil {
		return fmt.Errorf("cannot write the state of cluster %q: %w", state.Name, err)
	}
	return nil
}

// FindByConfig returns the name of the cluster that was created from a cluster.yml, by its absolute path. It also works
// after the file was edited or deleted. If it finds none, it says which states this user may not read.
func (s *Store) FindByConfig(config string) (string, bool, error) {
	names, err := s.Names()
	if err != nil {
		return "", false, err
	}
	var hidden []error
	for _, name := range names {
		state, err := s.load(name)
		if err == nil && state.Config == config {
			return name, true, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			hidden = append(hidden, err)
		}
	}
	return "", false, errors.Join(hidden...)
}

// writeFile replaces a file as a whole: a reader sees the old or the new contents, even after a power failure.
func writeFile(path string, contents []byte) error {
	return replaceFile(path, contents, func(*os.File) error { return nil })
}

// replaceFile is writeFile with a chance to prepare the new file, before anything is in it.
func replaceFile(path string, contents []byte, prepare func(*os.File) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := prepare(temp); err != nil {
		return err
	}
	// CreateTemp creates files of mode 0600, which everything in a state directory must have.
	if _, err := temp.Write(contents); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
