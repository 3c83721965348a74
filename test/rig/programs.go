// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"os"
	"path/filepath"
)

// Programs are the paths of what "make build" makes.
type Programs struct {
	// Root is the top folder of the repository.
	Root string

	Windlass, Devcluster, Kubectl string
}

// FindPrograms returns where the programs of the repository are, above the present folder, whether they are built or not.
func FindPrograms() (Programs, error) {
	root, err := findRoot()
	if err != nil {
		return Programs{}, err
	}
	p := Programs{Root: root, Windlass: filepath.Join(root, "bin", "windlass"), Devcluster: filepath.Join(root, "bin", "devcluster")}
	p.Kubectl = p.Kubernetes("kubectl")
	return p, nil
}

// Kubernetes returns the path of a program of Kubernetes.
func (p *Programs) Kubernetes(name string) string { return filepath.Join(p.Root, "bin", "k8s", name) }

// CheckBuilt returns an error that names the first of the programs that is missing.
func CheckBuilt(paths ...string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("cannot find %s: run \"make build\" first", path)
		}
	}
	return nil
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "config", "crd", "bases")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("cannot find the repository above %q", dir)
		}
	}
}
