// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command chart makes from config/ what is not written by hand: the templates of the Helm chart, and the one file for "kubectl apply".
// Its tests hold the chart against config/, with Helm's own code and a real API server.
//
//	go -C tools/chart run . generate              writes charts/windlass/templates/generated
//	go -C tools/chart run . install > install.yaml  prints config/default
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// root is the top folder of the repository, seen from this one.
const root = "../.."

// generated is where the templates are that nobody writes by hand.
const generated = root + "/charts/windlass/templates/generated"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "chart: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("give one of: generate, install")
	}
	switch args[0] {
	case "generate":
		return write()
	case "install":
		objects, err := build(filepath.Join(root, "config", "default"))
		if err != nil {
			return err
		}
		text, err := objects.AsYaml()
		if err != nil {
			return fmt.Errorf("cannot print config/default: %w", err)
		}
		_, err = os.Stdout.Write(text)
		return err
	default:
		return fmt.Errorf("%q is neither generate nor install", args[0])
	}
}

// write replaces the generated templates.
func write() error {
	files, err := templates()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(generated); err != nil {
		return fmt.Errorf("cannot remove the old templates: %w", err)
	}
	for name, text := range files {
		path := filepath.Join(generated, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("cannot make a folder for %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}
