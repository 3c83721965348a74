// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/yaml"
)

// bundle is a compressed archive. The first error stays.
type bundle struct {
	compressed *gzip.Writer
	archive    *tar.Writer
	now        time.Time
	unseen     []string
	err        error
}

func newBundle(out io.Writer, now time.Time) *bundle {
	b := &bundle{compressed: gzip.NewWriter(out), now: now}
	b.archive = tar.NewWriter(b.compressed)
	return b
}

func (b *bundle) close() error {
	if err := b.archive.Close(); err != nil {
		return err
	}
	return b.compressed.Close()
}

// add adds a file.
func (b *bundle) add(name string, content []byte) {
	if b.err != nil {
		return
	}
	b.err = b.archive.WriteHeader(&tar.Header{
		Name: "windlass-report/" + name, Mode: 0o600, Size: int64(len(content)), ModTime: b.now, Format: tar.FormatPAX,
	})
	if b.err == nil {
		_, b.err = b.archive.Write(content)
	}
}

func (b *bundle) yaml(name string, value any) {
	content, err := yaml.Marshal(value)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("cannot encode %s: %w", name, err)
	}
	b.add(name, content)
}

// missed notes what could not be read.
func (b *bundle) missed(what string, err error) {
	if err != nil {
		b.unseen = append(b.unseen, what+": "+(&plugin{}).explain(err))
	}
}
