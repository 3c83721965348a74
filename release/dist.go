// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-operator/windlass/release/internal/notes"
	"github.com/windlass-operator/windlass/release/internal/pack"
	"github.com/windlass-operator/windlass/release/internal/sbom"
)

// publish writes a file that everybody can read.
func publish(dir, name string, content []byte) error {
	return os.WriteFile(filepath.Join(dir, name), content, 0o644) //nolint:gosec // because everybody can read what is published
}

// archive packs each program with the licence, and writes its bill of materials beside it.
func archive(_ io.Writer, flags *flag.FlagSet, args []string) error {
	var of commit
	of.bind(flags)
	out := flags.String("out", "dist/release", "`folder` to write to")
	licence := flags.String("licence", "LICENSE", "`file` with the licence")
	lock := flags.String("npm", "", "package-lock.json of the console, for the bill of materials")
	if err := flags.Parse(args); err != nil {
		return err
	}
	terms, err := os.ReadFile(*licence)
	if err != nil {
		return err
	}
	for _, arg := range flags.Args() {
		system, architecture, path, err := platform(arg)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("windlass_%s_%s_%s", of.version, system, architecture)
		raw, err := pack.Tar(of.time(), []pack.Entry{{Name: "LICENSE", Mode: 0o644, Content: terms}, {Name: "windlass", Mode: 0o755, Content: content}})
		if err != nil {
			return err
		}
		packed, err := pack.Gzip(raw)
		if err != nil {
			return err
		}
		bill, err := sbom.Of(&sbom.Subject{Program: path, Name: name, Version: of.version, Created: of.time(), Lock: *lock})
		if err != nil {
			return err
		}
		if err := errors.Join(publish(*out, name+".tar.gz", packed), publish(*out, name+".spdx.json", bill)); err != nil {
			return err
		}
	}
	return nil
}

// versionsOfChart are the lines of Chart.yaml that a release sets.
var versionsOfChart = regexp.MustCompile("(?m)^(version|appVersion): .*$")

// setVersion replaces one of them. A chart's own version is one of semver, which has no v.
func (c *commit) setVersion(line []byte) []byte {
	if bytes.HasPrefix(line, []byte("version")) {
		return []byte("version: " + strings.TrimPrefix(c.version, "v"))
	}
	return []byte("appVersion: " + c.version)
}

// repositories are the lines of values.yaml that say where an image is. A release sets the one that there is.
var repositories = regexp.MustCompile(`(?m)^  repository: .*$`)

// setRepository replaces it. A chart that names another image than the release writes would only be noticed by who installs it.
func setRepository(values []byte, repository string) ([]byte, error) {
	if count := len(repositories.FindAll(values, -1)); count != 1 {
		return nil, fmt.Errorf("values.yaml has %d lines that name the repository of an image, not 1", count)
	}
	return repositories.ReplaceAllLiteral(values, []byte("  repository: "+repository)), nil
}

// chart packs a Helm chart, with the version in it, and where its image is.
func chart(_ io.Writer, flags *flag.FlagSet, args []string) error {
	var of commit
	of.bind(flags)
	out := flags.String("out", "dist/release", "`folder` to write to")
	repository := flags.String("repository", "", "`name` of the image without a tag; without it, the chart keeps its own")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name the folder of one chart")
	}
	from := filepath.Clean(flags.Arg(0))
	files := os.DirFS(from)
	var entries []pack.Entry
	if err := fs.WalkDir(files, ".", func(path string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		switch {
		case err != nil:
			return err
		case path == "Chart.yaml":
			content = versionsOfChart.ReplaceAllFunc(content, of.setVersion)
		case path == "values.yaml" && *repository != "":
			content, err = setRepository(content, *repository)
		}
		entries = append(entries, pack.Entry{Name: filepath.Base(from) + "/" + path, Mode: 0o644, Content: content})
		return err
	}); err != nil {
		return err
	}
	raw, err := pack.Tar(of.time(), entries) // in the order of their names
	if err != nil {
		return err
	}
	packed, err := pack.Gzip(raw)
	if err != nil {
		return err
	}
	return publish(*out, filepath.Base(from)+"-"+strings.TrimPrefix(of.version, "v")+".tgz", packed)
}

// changes writes a section of a changelog of what git log says on standard input.
func changes(out io.Writer, flags *flag.FlagSet, args []string) error {
	var of commit
	of.bind(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return notes.Write(out, os.Stdin, of.version, of.time())
}

// sums writes SHA256SUMS for the files in a folder, as sha256sum reads them.
func sums(_ io.Writer, flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one folder")
	}
	const list = "SHA256SUMS"
	files, err := os.ReadDir(flags.Arg(0))
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out bytes.Buffer
	for _, file := range files {
		if file.IsDir() || file.Name() == list {
			continue
		}
		content, err := os.ReadFile(filepath.Join(flags.Arg(0), file.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	return publish(flags.Arg(0), list, out.Bytes())
}
