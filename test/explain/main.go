// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command explain joins the lines of the descriptions in CustomResourceDefinitions. controller-gen copies them from comments as they are
// wrapped there, and "kubectl explain" wraps every line again, so that each second one would have a few words only.
//
//	go run ./test/explain config/crd/bases/*.yaml
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := rewrite(path); err != nil {
			fmt.Fprintf(os.Stderr, "cannot join the descriptions in %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// rewrite joins the descriptions in a file, and leaves the rest as controller-gen writes it.
func rewrite(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return err
	}
	describe(definition, joined)
	if text, err = yaml.Marshal(definition); err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte("---\n"), text...), 0o644) //nolint:gosec // because everybody can read the source
}
