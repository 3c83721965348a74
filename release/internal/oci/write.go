// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Write writes the image under its name: the folder out is an OCI layout, out.tar an archive of it, and out-<os>-<arch>.docker.tar what docker
// load takes. It returns the digest of the index.
func (s *Spec) Write(out, ref string) (v1.Hash, error) {
	tag, err := name.NewTag(ref)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("cannot use %q as the name of an image: %w", ref, err)
	}
	index, ok := mutate.Annotations(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), s.Labels).(v1.ImageIndex)
	if !ok {
		return v1.Hash{}, errors.New("cannot annotate an index")
	}
	var bills []mutate.IndexAddendum // after the images: some tools take the first entry
	for i := range s.Platforms {
		p := &s.Platforms[i]
		image, err := s.Image(p)
		if err != nil {
			return v1.Hash{}, err
		}
		bill, err := s.attestation(image, p)
		if err != nil {
			return v1.Hash{}, err
		}
		bills = append(bills, *bill)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: p.platform()}})
		if err := tarball.WriteToFile(fmt.Sprintf("%s-%s-%s.docker.tar", out, p.OS, p.Architecture), tag, image); err != nil {
			return v1.Hash{}, fmt.Errorf("cannot write the archive for Docker: %w", err)
		}
	}
	index = mutate.AppendManifests(index, bills...)
	if err := writeLayout(out, index, tag); err != nil {
		return v1.Hash{}, err
	}
	if err := archive(out, out+".tar", s.Created); err != nil {
		return v1.Hash{}, fmt.Errorf("cannot write the archive: %w", err)
	}
	return index.Digest()
}

// writeLayout writes a layout of one image, in place of what was there.
func writeLayout(dir string, index v1.ImageIndex, tag name.Tag) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove the last layout: %w", err)
	}
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("cannot write the layout: %w", err)
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag.TagStr(),
		"io.containerd.image.name":          strings.TrimPrefix(tag.Name(), "index."), // of docker.io, as everybody else has it
	})); err != nil {
		return fmt.Errorf("cannot write the image: %w", err)
	}
	return nil
}

// archive packs the files of a folder, sorted and without a trace of who packed them when.
func archive(dir, to string, created time.Time) (err error) {
	var files []string
	if err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}); err != nil {
		return err
	}
	slices.Sort(files)
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed := tar.NewWriter(out)
	for _, path := range files {
		if err := add(packed, dir, path, created); err != nil {
			return err
		}
	}
	return packed.Close()
}

func add(to *tar.Writer, dir, path string, created time.Time) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	inside := filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))
	if err := to.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: inside, Size: info.Size(), Mode: 0o644, ModTime: created, Format: tar.FormatUSTAR,
	}); err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return err
}
