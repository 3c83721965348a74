// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pack makes archives that depend on what is in them alone: not on who packs them, when, where or in which order files were found.
package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"time"
)

// Entry is a file of an archive, or a directory if its name ends with a slash.
type Entry struct {
	Name    string
	Content []byte
	Mode    int64
	// Owner is both the user and the group.
	Owner int
}

// Tar packs entries in their order. They all have one time.
func Tar(created time.Time, entries []Entry) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.Name, Size: int64(len(e.Content)), Mode: e.Mode, Uid: e.Owner, Gid: e.Owner, ModTime: created,
			Format: tar.FormatPAX,
		}
		if strings.HasSuffix(e.Name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Name, err)
		}
		if _, err := archive.Write(e.Content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack: %w", err)
	}
	return out.Bytes(), nil
}

// Gzip compresses. The header has neither a name nor a time.
func Gzip(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	if _, err := zipped.Write(raw); err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("cannot compress: %w", err)
	}
	return out.Bytes(), nil
}
