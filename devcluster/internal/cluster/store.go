// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
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

// State is what a later call has to know about a cluster that it cannot find out by looking.
type State struct {
	Name string `json:"name"`
	// Version is the Kubernetes version of the last start.
	Version string `json:"version"`
	// Config is the absolute path of the cluster.yml the cluster was made from, empty for a cluster made by name.
	Config string `json:"config,omitempty"`
	Ports  Ports  `json:"ports"`
	// Kubeconfigs are the files outside the state directory that hold an entry for this cluster.
	Kubeconfigs []string `json:"kubeconfigs,omitempty"`
	// RealNode is the name of the real node, empty where there is none.
	RealNode string `json:"realNode,omitempty"`
	// Nodes is the number of nodes the last call left behind, for a list of stopped clusters.
	Nodes int `json:"nodes"`
	// Complete is set when the first start has reached its end. What is not complete is made anew, never repaired.
	Complete bool `json:"complete"`
}

// Open opens a state directory, which need not exist yet.
func Open(dir string, report *progress.Reporter) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find state directory %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create state directory %q: %w", dir, err)
	}
	// Processes are recognised by their working directory, which the kernel reports with links resolved.
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open state directory %q: %w", dir, err)
	}
	return &Store{dir: resolved, progress: report}, nil
}

// maxName leaves room for what Kubernetes and certificates add to a name, within a label's 63 characters.
const maxName = 50

// ValidateName says what is wrong with a cluster's name.
func ValidateName(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("cluster name %q is not usable: %s", name, strings.Join(problems, "; "))
	}
	if len(name) > maxName {
		return fmt.Errorf("cluster name %q is not usable: it has %d characters and may have %d", name, len(name), maxName)
	}
	return nil
}

// ErrNotFound says that the state directory has no cluster of that name.
var ErrNotFound = errors.New("no such cluster")

// ErrIncomplete says that the first start of a cluster was interrupted.
var ErrIncomplete = errors.New("the creation of the cluster was never completed")

// clusterDir takes validated names only.
func (s *Store) clusterDir(name string) string { return filepath.Join(s.dir, "clusters", name) }

// statePath is the file that makes a directory a cluster: without it, it is the rest of a first start.
func (s *Store) statePath(name string) string {
	return filepath.Join(s.clusterDir(name), "cluster.json")
}

// Names lists the clusters that have a directory, sorted, whether or not their state can be read.
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

// load tells a state that is not there from one that is damaged: the first is made anew, the second is the user's call.
func (s *Store) load(name string) (State, error) {
	raw, err := os.ReadFile(s.statePath(name))
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

// save is called before what it records takes effect, so that a crash in between leaves a record without a thing and
// never a thing without a record.
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

// FindByConfig returns the name of the cluster that was made from a cluster.yml, by its absolute path. It works for a
// file that was edited or deleted since, which its contents would not.
func (s *Store) FindByConfig(config string) (string, bool, error) {
	names, err := s.Names()
	if err != nil {
		return "", false, err
	}
	for _, name := range names {
		if state, err := s.load(name); err == nil && state.Config == config {
			return name, true, nil
		}
	}
	return "", false, nil
}

// writeFile replaces a file as a whole: a reader, also one after a power cut, sees the old or the new contents.
func writeFile(path string, contents []byte) (err error) {
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
	// CreateTemp makes files of mode 0600, which is what everything in a state directory shall have.
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
