// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// build builds a folder as "kubectl kustomize" does.
func build(folder string) (resmap.ResMap, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, fmt.Errorf("cannot build %s: %w", folder, err)
	}
	return built, nil
}

// overlay builds config/default with components.
func overlay(components []string) (resmap.ResMap, error) {
	folder, err := os.MkdirTemp("", "windlass-overlay-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for an overlay: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	here, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("cannot tell where this is: %w", err)
	}
	config, err := filepath.Rel(folder, filepath.Join(here, "config"))
	if err != nil {
		return nil, fmt.Errorf("cannot reach config/ from %s: %w", folder, err)
	}
	lines := []string{
		"apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:", "- " + filepath.Join(config, "default"), "components:",
	}
	for _, name := range components {
		lines = append(lines, "- "+filepath.Join(config, "components", name))
	}
	text := strings.Join(lines, "\n")
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write an overlay: %w", err)
	}
	return build(folder)
}
