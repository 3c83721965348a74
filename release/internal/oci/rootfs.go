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
)

// base are the files of an image besides its programs: who its user is, whom it trusts, and where it may write.
func base(licence string) ([]entry, error) {
	text, err := os.ReadFile(licence)
	if err != nil {
		return nil, fmt.Errorf("cannot read the licence: %w", err)
	}
	return []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", Nobody)},
		{name: "etc/passwd", mode: 0o644, content: fmt.Appendf(nil,
			"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%[1]d:nonroot:/var/lib/windlass:/sbin/nologin\n", Nobody)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: roots()},
		{name: "licenses/", mode: 0o755},
		{name: "licenses/LICENSE", mode: 0o644, content: text},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/local/", mode: 0o755},
		{name: "usr/local/bin/", mode: 0o755},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: "var/lib/windlass/", mode: 0o700, owner: Nobody},
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
		to := filepath.Join(dir, filepath.FromSlash(e.name))
		if strings.HasSuffix(e.name, "/") {
			err = os.MkdirAll(to, 0o755)
		} else {
			err = os.WriteFile(to, e.content, 0o600)
		}
		if err == nil {
			err = os.Chmod(to, fileMode(e.mode)) // which no umask changes
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
func program(to, from string) (entry, error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return entry{}, fmt.Errorf("cannot read a program: %w", err)
	}
	return entry{name: strings.TrimPrefix(path.Clean("/"+to), "/"), mode: 0o755, content: content}, nil
}
