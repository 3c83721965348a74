// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command site makes a site of the Markdown under docs/, which stays readable where it is. site.yaml says which pages there are and in
// which order. Every link has to lead somewhere: one that does not ends the build. Pagefind adds the search afterwards.
//
//	go -C tools/site run . build -out ../../dist/site   writes the site
//	go -C tools/site run . reference                    writes docs/reference from the CRDs and the constants in api/
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// root is the top folder of the repository, seen from this one.
const root = "../.."

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("give one of: build, reference")
	}
	switch args[0] {
	case "build":
		flags := flag.NewFlagSet("build", flag.ContinueOnError)
		out := flags.String("out", filepath.Join(root, "dist", "site"), "`folder` to write to; what is in it is removed")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return build(root, *out)
	case "reference":
		return writeReference(root)
	default:
		return fmt.Errorf("%q is neither build nor reference", args[0])
	}
}

// build writes the site of the repository in a folder.
func build(root, out string) error {
	s, err := load(root)
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("cannot remove the old site: %w", err)
	}
	return s.write(out)
}
