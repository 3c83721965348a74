// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Nobody is the user and the group of the images: the one whom distroless images call nonroot.
const Nobody = 65532

// entry is a file of a layer, or a directory if its name ends with a slash.
type entry struct {
	name    string
	content []byte
	mode    int64
	owner   int
}

// layer is packed once, however often its size, digest and content are asked for.
type layer struct {
	packed         []byte
	digest, diffID v1.Hash
}

// newLayer packs entries. It takes every time from its caller, so the same entries give the same bytes.
func newLayer(created time.Time, entries []entry) (*layer, error) {
	var raw, packed bytes.Buffer
	archive := tar.NewWriter(&raw)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.content)), Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: created,
			Format: tar.FormatPAX,
		}
		if e.name[len(e.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.name, err)
		}
		if _, err := archive.Write(e.content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack a layer: %w", err)
	}
	zipped := gzip.NewWriter(&packed)
	if _, err := zipped.Write(raw.Bytes()); err != nil {
		return nil, fmt.Errorf("cannot compress a layer: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("cannot compress a layer: %w", err)
	}
	diffID, _, err := v1.SHA256(&raw)
	if err != nil {
		return nil, fmt.Errorf("cannot hash a layer: %w", err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(packed.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("cannot hash a layer: %w", err)
	}
	return &layer{packed: packed.Bytes(), digest: digest, diffID: diffID}, nil
}

func (l *layer) Digest() (v1.Hash, error)          { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)          { return l.diffID, nil }
func (l *layer) Size() (int64, error)              { return int64(len(l.packed)), nil }
func (*layer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }
func (l *layer) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.packed)), nil
}

func (l *layer) Uncompressed() (io.ReadCloser, error) {
	return gzip.NewReader(bytes.NewReader(l.packed))
}
