// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// The keys of the Secret that holds a cluster's state.
const (
	keyConfig      = "config"
	keyConfigPath  = "config-path"
	keyApplied     = "applied"
	keyAppliedPath = "applied-path"
	keyKubeconfig  = "kubeconfig"
	keyStateFrom   = "state-from"
	keyState       = "state." // followed by the name of a file
)

// maxStore bounds what the Secret holds, in bytes: the API server accepts 1 MiB, metadata included.
const maxStore = 900 << 10

// document is a configuration as a tool is given it.
type document struct {
	text []byte
	// path is the user's file with it; empty if it is in the working directory.
	path string
}

// store is what must survive the machine that tools run on. It is a value: what changes it makes a copy.
type store struct {
	// given is the configuration that the tool was last given to apply, applied the one that it last applied.
	given, applied document
	// kubeconfig is what the tool last wrote.
	kubeconfig []byte
	// state holds the tool's files by name.
	state map[string][]byte
	// from is when the run began that left the state, in whole seconds. It is zero if no state is stored, or an earlier version has stored it. A run that was
	// lost, or whose state could not be stored, does not move it.
	from time.Time
}

// before returns the store for a run that is about to start. A removal is given what is stored already. Where nobody noted which run has left the state, that
// is the last one before this: not noted now, it would be taken for a later one once this run is lost.
func (s *store) before(next *launch, last *clusterprovisionerv1alpha1.Operation) *store {
	changed := s.clone()
	if s == nil || next.action != provision.Remove {
		changed.given = next.document
	}
	if changed.from.IsZero() && len(changed.state) > 0 && last != nil && last.StartTime != nil {
		changed.from = last.StartTime.Time
	}
	if s != nil && changed.given.equal(s.given) && changed.from.Equal(s.from) {
		return s
	}
	return changed
}

// after returns the store for a run that has ended and left something behind. If there is no storing that, what is stored stays, and the run counts as
// failed: the next one would miss it. Nobody needs what a removal left.
func (s *store) after(run *provision.Run, left *provision.Artifacts) (*store, *provision.Failure) {
	next := s.with(run, left)
	_, err := next.encode()
	if len(left.Unread) > 0 {
		err = fmt.Errorf("file %q has more than %d bytes, or more than %d with the others, or cannot be read", left.Unread[0], maxUnpacked, provision.MaxState)
	}
	switch {
	case err == nil:
		return next, nil
	case run.Action == provision.Remove:
		return s.clone(), nil
	}
	return s.clone(), &provision.Failure{
		Reason: clusterprovisionerv1alpha1.ReasonStateLost, Message: "cannot store what the tool left: " + err.Error(),
	}
}

// with returns the store with what a run left behind.
func (s *store) with(run *provision.Run, left *provision.Artifacts) *store {
	next := s.clone()
	if len(left.State) > 0 { // an empty directory is not a state: the copy stays
		// What was applied is what the cluster would be removed with, and what that needs is beside another file.
		moved := run.Phase != provision.Succeeded && len(next.applied.text) > 0 && next.applied.path != next.given.path
		state := map[string][]byte{}
		for name, content := range next.state {
			if moved || slices.Contains(left.Torn, name) {
				state[name] = content
			}
		}
		maps.Copy(state, left.State)
		next.state = state
		if !run.StartedAt.IsZero() {
			next.from = run.StartedAt.Truncate(time.Second)
		}
	}
	if run.Action == provision.Up {
		if len(left.Kubeconfig) > 0 {
			next.kubeconfig = left.Kubeconfig
		}
		if run.Phase == provision.Succeeded {
			next.applied = next.given
		}
	}
	return next
}

// stateFor returns the tool's files for a run with a configuration at that path. If that is another one than before, they have the names that the tool looks
// for there: it would take a cluster without a state for a new one. Of two states, the one of the last run is newer.
func (s *store) stateFor(tool provision.Tool, name, path string) map[string][]byte {
	if s == nil {
		return nil
	}
	beside := func(path string) provision.Values {
		return provision.Values{Name: name, Config: cmp.Or(path, "/"+tool.ConfigName)}
	}
	state := s.state
	for _, from := range []document{s.given, s.applied} {
		if len(from.text) > 0 && from.path != path {
			state = tool.Moved(state, beside(from.path), beside(path))
		}
	}
	return state
}

// toRemove returns the configuration that the cluster has to be removed with: the one that was applied, or else the one that the tool was
// last given. It is empty if neither is known.
func (s *store) toRemove() document {
	if s == nil {
		return document{}
	}
	if len(s.applied.text) > 0 {
		return s.applied
	}
	return s.given
}

// config returns the parsed configuration, or nil if it is missing or cannot be read.
func (d document) config() *provision.Config {
	config, err := provision.ReadConfig(d.text)
	if err != nil {
		return nil
	}
	return &config
}

func (d document) equal(other document) bool {
	return bytes.Equal(d.text, other.text) && d.path == other.path
}

// clone returns a copy, empty for nil.
func (s *store) clone() *store {
	if s == nil {
		return &store{}
	}
	next := *s
	return &next
}

// checkName returns an error if no key of a Secret can have the name of a state file.
func checkName(file string) error {
	if len(validation.IsConfigMapKey(keyState+file)) > 0 {
		return fmt.Errorf("the name of file %q cannot be in a key of a Secret, which takes letters, digits, '-', '_' and '.', at most %d of them",
			file, validation.DNS1123SubdomainMaxLength-len(keyState))
	}
	return nil
}

// encode returns the data of the Secret.
func (s *store) encode() (map[string][]byte, error) {
	data := map[string][]byte{keyConfig: s.given.text, keyConfigPath: []byte(s.given.path)}
	if len(s.applied.text) > 0 {
		data[keyApplied], data[keyAppliedPath] = s.applied.text, []byte(s.applied.path)
	}
	if len(s.kubeconfig) > 0 {
		data[keyKubeconfig] = s.kubeconfig
	}
	if !s.from.IsZero() {
		data[keyStateFrom] = []byte(s.from.UTC().Format(time.RFC3339))
	}
	for _, file := range slices.Sorted(maps.Keys(s.state)) {
		if err := checkName(file); err != nil {
			return nil, err
		}
		packed, err := pack(s.state[file])
		if err != nil {
			return nil, fmt.Errorf("cannot compress state file %q: %w", file, err)
		}
		data[keyState+file] = packed
	}
	size, largest := 0, keyConfig
	for _, key := range slices.Sorted(maps.Keys(data)) {
		size += len(data[key])
		if len(data[key]) > len(data[largest]) {
			largest = key
		}
	}
	if size > maxStore {
		return nil, fmt.Errorf("it has %d bytes, more than the limit of %d, most of them in %q", size, maxStore, largest)
	}
	return data, nil
}

// decodeStore reads the Secret. The path is that of a configuration whose own one was not stored.
func decodeStore(secret *corev1.Secret, path string) (*store, error) {
	from := func(text, its string) document {
		if stored, ok := secret.Data[its]; ok {
			return document{secret.Data[text], string(stored)}
		}
		return document{secret.Data[text], path}
	}
	kept := &store{
		given: from(keyConfig, keyConfigPath), kubeconfig: secret.Data[keyKubeconfig], state: map[string][]byte{},
	}
	if len(secret.Data[keyApplied]) > 0 {
		kept.applied = from(keyApplied, keyAppliedPath)
	}
	if noted, err := time.Parse(time.RFC3339, string(secret.Data[keyStateFrom])); err == nil {
		kept.from = noted
	}
	for key, packed := range secret.Data {
		file, isState := strings.CutPrefix(key, keyState)
		if !isState {
			continue
		}
		content, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("cannot decompress key %q of Secret %s/%s: %w", key, secret.Namespace, secret.Name, err)
		}
		kept.state[file] = content
	}
	return kept, nil
}

// pack compresses a file: RKE's state contains 120 KB of certificates.
func pack(content []byte) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write(content)
	err = errors.Join(err, writer.Close())
	return out.Bytes(), err
}

// maxUnpacked bounds a decompressed file, in bytes.
const maxUnpacked = 8 << 20

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, maxUnpacked))
}
