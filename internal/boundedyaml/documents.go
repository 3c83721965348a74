// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package boundedyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Documents returns the documents in data that are not empty, each as a text of its own. Most libraries decode the first one and drop the others. Only
// what has passed Check may be given to it.
func Documents(data []byte) ([][]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var all [][]byte
	for number := 0; ; number++ {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF) && number == 1 && len(all) == 1:
			return [][]byte{data}, nil // as it is written
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("cannot parse YAML: %w", err)
		case empty(&document):
			continue
		}
		text, err := yaml.Marshal(&document)
		if err != nil {
			return nil, fmt.Errorf("cannot write YAML: %w", err)
		}
		all = append(all, text)
	}
}
