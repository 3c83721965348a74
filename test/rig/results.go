// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// WriteResults writes the results of a program of test/ to a file, as JSON that a person can read. It makes the folder of the file if that is
// missing: what took minutes to measure must not be lost for it.
func WriteResults(path string, results any) error {
	raw, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return nil
}
