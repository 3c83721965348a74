// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package boundedyaml

import "sigs.k8s.io/yaml"

// Unmarshal decodes a document by the json tags of into, like sigs.k8s.io/yaml.
func Unmarshal(data []byte, into any, limits Limits) error {
	if err := Check(data, limits); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// UnmarshalStrict is Unmarshal, but refuses unknown fields and duplicate keys.
func UnmarshalStrict(data []byte, into any, limits Limits) error {
	if err := Check(data, limits); err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

// ToJSON converts a document to JSON.
func ToJSON(data []byte, limits Limits) ([]byte, error) {
	if err := Check(data, limits); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}
