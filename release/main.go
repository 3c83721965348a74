// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release packs what is published, without a container engine and without a network:
//
//	release image -out dist/images/windlass -ref windlass:dev -revision … -created … linux/amd64=bin/windlass …
//	release rootfs -out dist/rootfs
//	release archive -out dist/release -version v1.2.3 linux/amd64=bin/windlass …
//	release chart -out dist/release -version v1.2.3 -repository ghcr.io/windlass-operator/windlass charts/windlass
//	git log --format='%h %s' | release notes -version v1.2.3
//	release sums dist/release
//
// What it writes depends on its arguments and its input alone: the same commit gives the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/release/internal/oci"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// commands are what the program can do, by the first argument.
func commands() map[string]func(out io.Writer, flags *flag.FlagSet, args []string) error {
	return map[string]func(io.Writer, *flag.FlagSet, []string) error{
		"archive": archive, "chart": chart, "image": image, "notes": changes, "rootfs": rootfs, "sums": sums,
	}
}

func run(out io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("a command is missing: " + strings.Join(slices.Sorted(maps.Keys(commands())), ", "))
	}
	command, ok := commands()[args[0]]
	if !ok {
		return fmt.Errorf("the command %q is unknown: use one of %s", args[0], strings.Join(slices.Sorted(maps.Keys(commands())), ", "))
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	return command(out, flags, args[1:])
}

// rootfs writes the files that every image has.
func rootfs(_ io.Writer, flags *flag.FlagSet, args []string) error {
	out := flags.String("out", "dist/rootfs", "`folder` to write to")
	licence := flags.String("licence", "LICENSE", "`file` with the licence")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return oci.WriteRootfs(*out, *licence)
}

// commit is what is known of the commit.
type commit struct {
	version, revision string
	created           int64
}

func (c *commit) bind(flags *flag.FlagSet) {
	flags.StringVar(&c.version, "version", "v0.0.0-dev", "`version` of what is packed")
	flags.StringVar(&c.revision, "revision", "", "`hash` of the commit")
	flags.Int64Var(&c.created, "created", 0, "time of the commit, in `seconds` since 1970")
}

func (c *commit) time() time.Time { return time.Unix(c.created, 0).UTC() }

// platform splits "linux/amd64=path".
func platform(arg string) (system, architecture, path string, err error) {
	on, path, ok := strings.Cut(arg, "=")
	system, architecture, both := strings.Cut(on, "/")
	if !ok || !both || path == "" {
		return "", "", "", fmt.Errorf("%q is not os/arch=program", arg)
	}
	return system, architecture, path, nil
}
