// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// program is the name under which kubectl finds the plugin.
const program = "kubectl-windlass"

// release is a version of the plugin.
type release struct {
	version, url, licence string
	archives              []archive
}

// archive is what krew downloads for a platform.
type archive struct {
	system, architecture, name, sum string
	content                         []byte
}

// archive packs the program at the path. It says nothing of when and by whom.
func (r *release) archive(system, architecture, path string) (*archive, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	packed := tar.NewWriter(zipped)
	for _, file := range []struct {
		name, from string
		mode       int64
	}{{"LICENSE", r.licence, 0o644}, {program, path, 0o755}} {
		content, err := os.ReadFile(file.from)
		if err != nil {
			return nil, err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: file.name, Mode: file.mode, Size: int64(len(content)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
		}
		if err := packed.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := packed.Write(content); err != nil {
			return nil, err
		}
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(out.Bytes())
	return &archive{
		system: system, architecture: architecture, name: fmt.Sprintf("%s_%s_%s_%s.tar.gz", program, r.version, system, architecture),
		sum: hex.EncodeToString(sum[:]), content: out.Bytes(),
	}, nil
}
