// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/json"
)

// nulls returns, for each host of a hosts file in JSON, the fields without a value, as where every line below them is commented out. Such a field would count
// as left out, which often means that everything is allowed.
func nulls(raw []byte) ([][]string, error) {
	var file struct {
		Hosts []any `json:"hosts"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, &file); err != nil {
		return nil, err
	}
	out := make([][]string, len(file.Hosts))
	for i, host := range file.Hosts {
		if host != nil { // Otherwise everything is missing, which is said anyway.
			out[i] = nullsIn("", host)
		}
	}
	return out, nil
}

// nullsIn returns the paths of the fields in a value that have none.
func nullsIn(at string, value any) []string {
	var out []string
	switch value := value.(type) {
	case nil:
		return []string{at}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			path := key
			if at != "" {
				path = at + "." + key
			}
			out = append(out, nullsIn(path, value[key])...)
		}
	case []any:
		for i, item := range value {
			out = append(out, nullsIn(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	}
	return out
}
