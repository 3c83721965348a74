// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rkeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxConfig bounds a cluster.yml, in bytes.
const maxConfig = 1 << 20

// bounded returns an error for a configuration that can take more memory than it has bytes. Only aliases can, which repeat what an anchor
// names, with the aliases in it: a few kilobytes become gigabytes. RKE's own files have none. The parser does not expand them.
func bounded(raw []byte) error {
	if len(raw) > maxConfig {
		return fmt.Errorf("it has %d bytes, more than the limit of %d", len(raw), maxConfig)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for left := []*yaml.Node{&document}; len(left) > 0; {
			node := left[len(left)-1]
			left = left[:len(left)-1]
			for _, child := range slices.Backward(node.Content) { // so that the first alias is named, not the last
				left = append(left, child)
			}
			if node.Kind == yaml.AliasNode {
				return fmt.Errorf("line %d: alias %q: aliases are not supported, write the value out", node.Line, "*"+node.Value)
			}
		}
	}
}
