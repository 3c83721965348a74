// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command licences reads the licence of every module that a module of this repository is built, tested or made with, and fails if one is
// not among those that allow what Windlass does with it, or cannot be recognised:
//
//	go run ./test/licences . devcluster tools=tool
//
// An argument is the directory of a module, all of whose packages and tests count. With "=tool" after it, what counts is the tools that it
// pins: they are run and nothing of them is given away, so their licences may also ask that of those who do.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// allowed are the licences, by SPDX, under which a module may be linked into a program under the Apache License 2.0 that is given away as
// source and as a binary, with the notices that they ask for.
func allowed() []string {
	return []string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-2-Clause-FreeBSD", "BSD-2-Clause-Views", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT",
		"MIT-0", "MPL-2.0", "MPL-2.0-no-copyleft-exception", "Unlicense", "Zlib",
	}
}

// covered is how much of a file has to be the text of licences, in percent: the rest is names and years.
const covered = 70

// allowedToRun are the licences that allow to run a program, and ask for more only of those who give it away.
func allowedToRun() []string {
	return append(allowed(), "GPL-2.0", "GPL-3.0", "GPL-3.0-or-later", "LGPL-3.0", "OFL-1.1")
}

// reviewed are modules whose licence this program cannot recognise, with what a person found.
func reviewed() map[string]string {
	return map[string]string{
		"codeberg.org/go-fonts/liberation":       "OFL-1.1, which leaves what is made with a font alone; tools/curves draws with it and is only run",
		"github.com/ajstarks/svgo":               "CC-BY-4.0, which allows everything and wants its author named; tools/curves draws with it and is only run",
		"github.com/alecthomas/chroma/v2":        "COPYING is MIT, and OFL-1.1 for a font in formatters/svg, which nothing here imports",
		"github.com/alecthomas/go-check-sumtype": "COPYING names the two licences that are in files of their own: MIT or the Unlicense",
		"github.com/spdx/tools-golang":           "LICENSE.code lets everybody choose between two: Apache-2.0 or GPL-2.0-or-later",
		"github.com/golang/freetype":             "LICENSE lets everybody choose between two: the FreeType License, which is like BSD with a notice, or GPL-2.0-or-later",
		"github.com/golangci/gofmt":              "a copy of Go's own gofmt, with its BSD-3-Clause in the headers of the files",
	}
}

// tools is the pattern of the go command for the tools of a module.
const tools = "tool"

// module is a dependency, and whether it is only run.
type module struct {
	path, version, dir string
	run                bool
}

func run(ctx context.Context, out io.Writer, args []string) error {
	found := map[module]bool{}
	for _, arg := range args {
		dir, packages, _ := strings.Cut(arg, "=")
		modules, err := dependencies(ctx, dir, cmp.Or(packages, "./..."))
		if err != nil {
			return err
		}
		for _, m := range modules {
			found[m] = true
		}
	}
	counts := map[string]int{}
	var errs []error
	for _, m := range slices.SortedFunc(maps.Keys(found), func(a, b module) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.version, b.version))
	}) {
		if reviewed()[m.path] != "" {
			continue
		}
		licences, err := read(m.dir)
		if err == nil {
			err = check(licences, m.run)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", m.path, m.version, err))
		}
		for _, licence := range licences {
			counts[licence]++
		}
	}
	for _, licence := range slices.Sorted(maps.Keys(counts)) {
		if _, err := fmt.Fprintf(out, "%5d  %s\n", counts[licence], licence); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "%d modules\n", len(found)); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// dependencies returns the modules that the packages, and their tests, import something of.
func dependencies(ctx context.Context, dir, packages string) ([]module, error) {
	args := []string{"-C", dir, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", packages}
	if packages != tools {
		args = slices.Insert(args, 4, "-test")
	}
	list := exec.CommandContext(ctx, "go", args...)
	list.Stderr = os.Stderr
	raw, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the dependencies of %s: %w", dir, err)
	}
	seen := map[module]bool{}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			seen[module{fields[0], fields[1], fields[2], packages == tools}] = true
		}
	}
	return slices.Collect(maps.Keys(seen)), nil
}

// licenceFile matches the names of files with the terms of a module, and otherFile those that are code or are about the documentation only.
var (
	licenceFile = regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying`)
	otherFile   = regexp.MustCompile(`(?i)\.(go|docs|header|tmpl|tpl)$`)
)

// read returns the licences in the top directory of a module, by SPDX. The go command puts the licence of a repository into every module
// that is cut out of it.
func read(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the module: %w: run go mod download", err)
	}
	found := map[string]bool{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) || otherFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		licences, err := recognise(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		for _, licence := range licences {
			found[licence] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// recognise returns the licences that a text consists of.
func recognise(text []byte) ([]string, error) {
	scanned := licensecheck.Scan(text)
	if scanned.Percent < covered {
		return nil, fmt.Errorf("only %.0f %% of it is the text of a known licence", scanned.Percent)
	}
	var licences []string
	for _, match := range scanned.Match {
		licences = append(licences, match.ID)
	}
	return licences, nil
}

// check returns an error for licences of which one is not allowed, and if there is none.
func check(licences []string, onlyRun bool) error {
	if len(licences) == 0 {
		return errors.New("it has no licence")
	}
	list := allowed()
	if onlyRun {
		list = allowedToRun()
	}
	var errs []error
	for _, licence := range licences {
		if !slices.Contains(list, licence) {
			errs = append(errs, fmt.Errorf("%s is not among the licences that are allowed", licence))
		}
	}
	return errors.Join(errs...)
}
