// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command monitoring makes the Grafana dashboards of config/monitoring/grafana. Its tests hold dashboards and alerts to what Windlass
// serves, with the parser and the engine of Prometheus.
//
//	go -C tools/monitoring run . generate    writes config/monitoring/grafana
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// root is the top folder of the repository, seen from this one.
const root = "../.."

// generated is where the dashboards are.
const generated = root + "/config/monitoring/grafana"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "monitoring: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 || args[0] != "generate" {
		return errors.New("give: generate")
	}
	return write()
}

// write writes the dashboards.
func write() error {
	files, err := rendered()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(generated, name), text, 0o600); err != nil {
			return fmt.Errorf("cannot write a dashboard: %w", err)
		}
	}
	return nil
}

// rendered returns the dashboards as Grafana reads them, by the names of their files.
func rendered() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, page := range pages() {
		built, err := page.build()
		if err != nil {
			return nil, fmt.Errorf("cannot build the dashboard %q: %w", page.title, err)
		}
		text, err := json.MarshalIndent(built, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("cannot print the dashboard %q: %w", page.title, err)
		}
		files[page.uid+".json"] = append(text, '\n')
	}
	return files, nil
}
