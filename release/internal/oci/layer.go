// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/windlass-operator/windlass/release/internal/pack"
)

// Nobody is the user and the group of the images: the one whom distroless images call nonroot.
const Nobody = 65532

// layer is packed once, however often its size, digest and content are asked for.
type layer struct {
	packed         []byte
	digest, diffID v1.Hash
}

// newLayer packs entries. It takes every time from its caller, so the same entries give the same bytes.
func newLayer(created time.Time, entries []pack.Entry) (*layer, error) {
	raw, err := pack.Tar(created, entries)
	if err != nil {
		return nil, err
	}
	packed, err := pack.Gzip(raw)
	if err != nil {
		return nil, err
	}
	diffID, _, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("cannot hash a layer: %w", err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("cannot hash a layer: %w", err)
	}
	return &layer{packed: packed, digest: digest, diffID: diffID}, nil
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
