// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/provision"
)

// The keys of the Secret that holds a cluster's state.
const (
	keyConfig  = "config"
	keyApplied = "applied"
	keyState   = "state." // followed by the name of a file
)

// maxStore bounds what the Secret holds, in bytes: the API server accepts 1 MiB, metadata included.
const maxStore = 900 << 10

// store is what must survive the machine that tools run on. It is a value: what changes it makes a copy.
type store struct {
	// config is the configuration that the tool was last given, applied the one that it last applied.
	config, applied []byte
	// state holds the tool's files by name.
	state map[string][]byte
}

// given returns the store for a run that gets the configuration.
func (s *store) given(config []byte) *store {
	next := s.clone()
	next.config = config
	return next
}

// after returns the store for a run that has ended and left something behind.
func (s *store) after(run *provision.Run, left *provision.Artifacts) *store {
	next := s.clone()
	if len(left.State) > 0 { // an empty directory is not a state: the copy stays
		state := maps.Clone(left.State)
		for _, name := range left.Torn {
			if whole, ok := next.state[name]; ok {
				state[name] = whole
			}
		}
		next.state = state
	}
	if run.Action == provision.Up && run.Phase == provision.Succeeded {
		next.applied = next.config
	}
	return next
}

// clone returns a copy, empty for nil.
func (s *store) clone() *store {
	if s == nil {
		return &store{}
	}
	next := *s
	return &next
}

// dataKey matches what the API server accepts as a key of a Secret.
var dataKey = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// encode returns the data of the Secret.
func (s *store) encode() (map[string][]byte, error) {
	data := map[string][]byte{keyConfig: s.config}
	if len(s.applied) > 0 {
		data[keyApplied] = s.applied
	}
	size := len(s.config) + len(s.applied)
	for _, file := range slices.Sorted(maps.Keys(s.state)) {
		if !dataKey.MatchString(file) {
			return nil, fmt.Errorf("cannot keep state file %q: its name is not a valid key of a Secret", file)
		}
		packed, err := pack(s.state[file])
		if err != nil {
			return nil, fmt.Errorf("cannot compress state file %q: %w", file, err)
		}
		data[keyState+file] = packed
		size += len(packed)
	}
	if size > maxStore {
		return nil, fmt.Errorf("it has %d bytes, more than the limit of %d", size, maxStore)
	}
	return data, nil
}

// decodeStore reads the Secret.
func decodeStore(secret *corev1.Secret) (*store, error) {
	kept := &store{config: secret.Data[keyConfig], applied: secret.Data[keyApplied], state: map[string][]byte{}}
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
