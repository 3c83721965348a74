// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// loaded is a package with its types resolved.
type loaded struct {
	path   string
	files  []string
	syntax []*ast.File
	fset   *token.FileSet
	info   *types.Info
}

// listed is what "go list" says about a package.
type listed struct {
	ImportPath string            `json:"ImportPath"`
	Dir        string            `json:"Dir"`
	Export     string            `json:"Export"`
	GoFiles    []string          `json:"GoFiles"`
	DepOnly    bool              `json:"DepOnly"`
	Imports    []string          `json:"Imports"`
	Module     *module           `json:"Module"`
	ImportMap  map[string]string `json:"ImportMap"`
}

// module is the module of a package.
type module struct {
	Path string `json:"Path"`
	Main bool   `json:"Main"`
}

// load type-checks packages. The compiler's export data answers for what they import, so that only they are read from source.
func load(ctx context.Context, folder string, patterns []string) ([]loaded, error) {
	packages, err := list(ctx, folder, append([]string{"-deps", "-export", "--"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, found := range packages {
		exports[found.ImportPath] = found.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("cannot find the export data of package %q", path)
		}
		return os.Open(exports[path])
	})
	var all []loaded
	for _, found := range packages {
		if found.DepOnly {
			continue
		}
		checked, err := check(fset, imports, found)
		if err != nil {
			return nil, err
		}
		if len(checked.files) > 0 {
			all = append(all, checked)
		}
	}
	return all, nil
}

// list asks the go command for packages; -deps adds everything that they import, -export compiles it.
func list(ctx context.Context, folder string, args ...string) ([]listed, error) {
	command := exec.CommandContext(ctx, "go", append([]string{
		"list", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Imports,Module,ImportMap",
	}, args...)...)
	command.Dir = folder
	out, err := command.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return nil, fmt.Errorf("cannot list packages: %w", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var found listed
		if err := decoder.Decode(&found); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("cannot read the list of packages: %w", err)
		}
		packages = append(packages, found)
	}
}

// check parses and type-checks one package. Generated files are checked with the others and then left out.
func check(fset *token.FileSet, imports types.Importer, found listed) (loaded, error) {
	result := loaded{path: found.ImportPath, fset: fset, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	var parsed []*ast.File
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(found.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return loaded{}, fmt.Errorf("cannot parse package %q: %w", found.ImportPath, err)
		}
		parsed = append(parsed, file)
		if !ast.IsGenerated(file) {
			result.files = append(result.files, name)
			result.syntax = append(result.syntax, file)
		}
	}
	config := types.Config{Importer: mapped{imports, found.ImportMap}}
	if _, err := config.Check(found.ImportPath, fset, parsed, result.info); err != nil {
		return loaded{}, fmt.Errorf("cannot check package %q: %w", found.ImportPath, err)
	}
	return result, nil
}

// mapped is an importer that knows where a package finds the copies vendored by the standard library.
type mapped struct {
	types.Importer

	paths map[string]string
}

// Import imports a package by the path in the source.
func (m mapped) Import(path string) (*types.Package, error) {
	if actual, ok := m.paths[path]; ok {
		path = actual
	}
	return m.Importer.Import(path)
}
