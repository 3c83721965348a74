// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package confine opens files by the paths that users write into objects, and keeps them inside one directory. A path is judged by what it
// leads to: links are resolved first, and the file is then opened below that directory, so that a link which is exchanged in between
// leads nowhere else.
package confine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrOutside says that a path leads outside of the directory.
var ErrOutside = errors.New("it is outside of the allowed directory")

// Root is the directory that paths have to stay in; empty for any.
type Root string

// ReadFile reads a regular file of at most limit bytes. The error is fs.ErrNotExist if there is none, and ErrOutside if the path leads
// outside, whether or not the file exists.
func (r Root) ReadFile(path string, limit int64) ([]byte, error) {
	top, below, err := r.resolve(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return ReadFile(root, below, limit)
}

// OpenDir opens a directory.
func (r Root) OpenDir(path string) (*os.Root, error) {
	top, below, err := r.resolve(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenRoot(below)
}

// Resolve returns the path without links, of the file or of what exists of the way to it. Two paths that lead to one file resolve to the
// same path.
func (r Root) Resolve(path string) (string, error) {
	top, below, err := r.resolve(path)
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(top, below), err
}

// resolve splits a path into the directory that it has to stay in and the way from there, both without links.
func (r Root) resolve(path string) (top, below string, err error) {
	top = "/"
	if r != "" {
		if top, err = filepath.EvalSymlinks(string(r)); err != nil {
			return "", "", fmt.Errorf("cannot find the allowed directory %q: %w", string(r), err)
		}
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", "", r.missing(top, path, err)
	}
	if below, err = filepath.Rel(top, target); err != nil || !filepath.IsLocal(below) {
		return "", "", fmt.Errorf("cannot use %q: %w (%s)", path, ErrOutside, r)
	}
	return top, below, nil
}

// missing returns the error for a path that cannot be resolved. It does not reveal whether there is a file outside.
func (r Root) missing(top, path string, cause error) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		target, err := filepath.EvalSymlinks(dir)
		if err != nil && dir != filepath.Dir(dir) {
			continue
		}
		if below, err := filepath.Rel(top, target); err != nil || !filepath.IsLocal(below) {
			return fmt.Errorf("cannot use %q: %w (%s)", path, ErrOutside, r)
		}
		return cause
	}
}

// ReadFile reads a regular file below an open directory, of at most limit bytes. Links stay below it. Anything else, such as a pipe
// without a writer, is an error, and ReadFile does not wait for it.
func ReadFile(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("cannot read %q: it is not a regular file, or larger than %d bytes", name, limit)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
