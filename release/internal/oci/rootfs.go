// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/windlass-operator/windlass/release/internal/pack"
)

// base are the files of an image besides its programs: who its user is, whom it trusts, and where it may write.
func base(licence string) ([]pack.Entry, error) {
	text, err := os.ReadFile(licence)
	if err != nil {
		return nil, fmt.Errorf("cannot read the licence: %w", err)
	}
	return []pack.Entry{
		{Name: "etc/", Mode: 0o755},
		{Name: "etc/group", Mode: 0o644, Content: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", Nobody)},
		{Name: "etc/passwd", Mode: 0o644, Content: fmt.Appendf(nil,
			"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%[1]d:nonroot:/var/lib/windlass:/sbin/nologin\n", Nobody)},
		{Name: "etc/ssl/", Mode: 0o755},
		{Name: "etc/ssl/certs/", Mode: 0o755},
		{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Content: roots()},
		{Name: "licenses/", Mode: 0o755},
		{Name: "licenses/LICENSE", Mode: 0o644, Content: text},
		{Name: "tmp/", Mode: 0o1777},
		{Name: "usr/", Mode: 0o755},
		{Name: "usr/local/", Mode: 0o755},
		{Name: "usr/local/bin/", Mode: 0o755},
		{Name: "var/", Mode: 0o755},
		{Name: "var/lib/", Mode: 0o755},
		{Name: "var/lib/windlass/", Mode: 0o700, Owner: Nobody},
	}, nil
}

// roots are the certificates that Mozilla trusts, without those that it trusts under conditions which a file cannot express. They are in the
// place where Go looks for them, so a team can mount its own over them.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
		}
	}
	return out.Bytes()
}

// WriteRootfs writes the same files into a folder, for those who build images with an engine.
func WriteRootfs(dir, licence string) error {
	entries, err := base(licence)
	if err != nil {
		return err
	}
	for _, e := range entries {
		to := filepath.Join(dir, filepath.FromSlash(e.Name))
		if strings.HasSuffix(e.Name, "/") {
			err = os.MkdirAll(to, 0o755)
		} else {
			err = os.WriteFile(to, e.Content, 0o600)
		}
		if err == nil {
			err = os.Chmod(to, fileMode(e.Mode)) // which no umask changes
		}
		if err != nil {
			return fmt.Errorf("cannot write the files of an image: %w", err)
		}
	}
	return nil
}

// fileMode translates the mode of an archive, of which Go keeps the sticky bit elsewhere.
func fileMode(mode int64) os.FileMode {
	out := os.FileMode(mode) & os.ModePerm //nolint:gosec // because the modes are those above
	if mode&0o1000 != 0 {
		out |= os.ModeSticky
	}
	return out
}

// program is an entry for a program that everybody may run.
func program(to, from string) (pack.Entry, error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return pack.Entry{}, fmt.Errorf("cannot read a program: %w", err)
	}
	return pack.Entry{Name: strings.TrimPrefix(path.Clean("/"+to), "/"), Mode: 0o755, Content: content}, nil
}
