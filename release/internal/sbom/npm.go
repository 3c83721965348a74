// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package sbom

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// lockfile is what npm writes of what it installs.
type lockfile struct {
	Version  int `json:"lockfileVersion"`
	Packages map[string]struct {
		Version   string `json:"version"`
		Integrity string `json:"integrity"`
		Licence   string `json:"license"`
		Dev       bool   `json:"dev"`
		DevOrOpt  bool   `json:"devOptional"`
	} `json:"packages"`
}

// packagesOf returns what the console is made of: whatever is not there for building it alone.
func packagesOf(path string) ([]component, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the packages of the console: %w", err)
	}
	var lock lockfile
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("cannot read the packages of the console in %q: %w", path, err)
	}
	if lock.Version != 3 {
		return nil, fmt.Errorf("cannot read the packages of the console in %q: version %d of its format is not 3", path, lock.Version)
	}
	const folder = "node_modules/"
	var out []component
	for _, at := range slices.Sorted(maps.Keys(lock.Packages)) {
		one := lock.Packages[at]
		if at == "" || one.Dev || one.DevOrOpt {
			continue
		}
		name := at[strings.LastIndex(at, folder)+len(folder):]
		licence := one.Licence
		if licence == "" {
			licence = unsaid
		}
		out = append(out, component{
			name: name, version: one.Version, url: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + one.Version, licence: licence,
			source: "npm package with the checksum " + one.Integrity,
		})
	}
	return slices.CompactFunc(out, func(a, b component) bool { return a.url == b.url }), nil
}
