// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command krew packs the kubectl plugin for krew: an archive for each platform, and the manifest with their checksums. The same programs
// give the same bytes, whenever and wherever they are packed.
//
//	go run ./test/krew -version v1.2.3 -out dist linux/amd64=dist/windlass-linux-amd64 …
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	var of release
	flag.StringVar(&of.version, "version", "", "`version` of the plugin, as in v1.2.3")
	flag.StringVar(&of.url, "url", "https://github.com/windlass-operator/windlass/releases/download", "`URL` under which versions can be downloaded")
	flag.StringVar(&of.licence, "licence", "LICENSE", "`file` with the licence")
	out := flag.String("out", "dist", "`folder` for archives and manifest")
	flag.Parse()
	if err := pack(&of, *out, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "cannot pack the plugin: %v\n", err)
		os.Exit(1)
	}
}

// versions are what krew takes.
var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// pack writes an archive for each "os/arch=program", and the manifest.
func pack(of *release, out string, programs []string) error {
	if !versions.MatchString(of.version) {
		return fmt.Errorf("%q is no version such as v1.2.3", of.version)
	}
	if len(programs) == 0 {
		return errors.New("there is no program to pack")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, each := range programs {
		on, path, ok := strings.Cut(each, "=")
		system, architecture, both := strings.Cut(on, "/")
		if !ok || !both {
			return fmt.Errorf("%q is not os/arch=program", each)
		}
		packed, err := of.archive(system, architecture, path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, packed.name), packed.content, 0o644); err != nil { //nolint:gosec // because everybody can read what is published
			return err
		}
		of.archives = append(of.archives, *packed)
	}
	manifest, err := of.manifest()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "windlass.yaml"), manifest, 0o644) //nolint:gosec // because everybody can read what is published
}
