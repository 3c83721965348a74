// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/release/internal/oci"
	"github.com/windlass-operator/windlass/release/internal/sbom"
)

// imageOptions are what an image is made of besides the programs.
type imageOptions struct {
	commit

	out, ref, title, licence, lock string
	// beside are further programs: "os/arch=path", each put into /usr/local/bin.
	beside list
}

// list is a flag that can be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// image writes an image for the platforms whose programs are given, with a bill of materials for each beside it.
func image(out io.Writer, flags *flag.FlagSet, args []string) error {
	var o imageOptions
	o.bind(flags)
	flags.StringVar(&o.out, "out", "dist/images/windlass", "`path` of the layout, and with suffixes that of the archives")
	flags.StringVar(&o.ref, "ref", "windlass:dev", "`name` of the image, with a tag")
	flags.StringVar(&o.title, "title", "windlass", "`title` of the image")
	flags.StringVar(&o.licence, "licence", "LICENSE", "`file` with the licence")
	flags.StringVar(&o.lock, "npm", "", "package-lock.json of the console, for the bill of materials")
	flags.Var(&o.beside, "beside", "`os/arch=program` to put into /usr/local/bin; can be repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("there is no program to pack: add os/arch=program")
	}
	spec := oci.Spec{Labels: o.labels(), Created: o.time(), Licence: o.licence}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return err
	}
	for _, arg := range flags.Args() {
		p, err := o.platform(arg)
		if err != nil {
			return err
		}
		spec.Platforms = append(spec.Platforms, *p)
	}
	digest, err := spec.Write(o.out, o.ref)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s@%s in %s\n", o.ref, digest, o.out)
	return err
}

// platform collects what is in the image on one platform, and writes its bill of materials.
func (o *imageOptions) platform(arg string) (*oci.Platform, error) {
	system, architecture, program, err := platform(arg)
	if err != nil {
		return nil, err
	}
	var beside []string
	p := &oci.Platform{OS: system, Architecture: architecture, Program: program, Beside: map[string]string{}}
	for _, each := range o.beside {
		s, a, tool, err := platform(each)
		if err != nil {
			return nil, err
		}
		if s == system && a == architecture {
			p.Beside[path.Join("/usr/local/bin", filepath.Base(tool))] = tool
			beside = append(beside, tool)
		}
	}
	p.Materials, err = sbom.Of(&sbom.Subject{
		Program: program, Beside: beside, Name: cmp.Or(o.title, "windlass") + "-" + system + "-" + architecture, Version: o.version, Created: o.time(), Lock: o.lock,
	})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s-%s.spdx.json", o.out, system, architecture)
	return p, os.WriteFile(name, p.Materials, 0o644) //nolint:gosec // because everybody can read what is published
}

// labels are what OCI has registries show.
func (o *imageOptions) labels() map[string]string {
	const at = "https://github.com/windlass-operator/windlass"
	return map[string]string{
		"org.opencontainers.image.title":         o.title,
		"org.opencontainers.image.description":   "A Kubernetes operator for node pools, pod sets, virtual machines and whole clusters",
		"org.opencontainers.image.version":       o.version,
		"org.opencontainers.image.revision":      o.revision,
		"org.opencontainers.image.created":       o.time().Format(time.RFC3339),
		"org.opencontainers.image.source":        at,
		"org.opencontainers.image.url":           at,
		"org.opencontainers.image.documentation": at + "/tree/main/docs/guide",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.vendor":        "The Windlass Authors",
	}
}
