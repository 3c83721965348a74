// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// house is which packages of a module import which others of it, tests left out. Packages are named without the module's path,
// and all of api is one.
type house struct {
	packages []string
	imports  map[string][]string
}

// survey reads the imports of the module in a folder.
func survey(ctx context.Context, folder string) (house, error) {
	packages, err := list(ctx, folder, "./...")
	if err != nil {
		return house{}, err
	}
	h := house{imports: map[string][]string{}}
	module := ""
	for _, found := range packages {
		if found.Module != nil && found.Module.Main {
			module = found.Module.Path + "/"
		}
	}
	for _, found := range packages {
		name, ours := room(module, found.ImportPath)
		if !ours {
			continue
		}
		h.packages = append(h.packages, name)
		for _, path := range found.Imports {
			if imported, ours := room(module, path); ours && imported != name && !slices.Contains(h.imports[name], imported) {
				h.imports[name] = append(h.imports[name], imported)
			}
		}
	}
	slices.Sort(h.packages)
	h.packages = slices.Compact(h.packages)
	return h, nil
}

// room names a package of the module.
func room(module, path string) (name string, ours bool) {
	name, ours = strings.CutPrefix(path, module)
	if strings.HasPrefix(name, "api/") {
		name = "api"
	}
	return name, ours
}

// floors returns the packages that some packages are made of, each as high as possible below all that import it: whatever a
// package imports is on a floor below its own.
func (h house) floors(tops ...string) [][]string {
	depth := map[string]int{}
	var descend func(name string, to int)
	descend = func(name string, to int) {
		if at, seen := depth[name]; seen && at >= to {
			return
		}
		depth[name] = to
		for _, imported := range h.imports[name] {
			descend(imported, to+1)
		}
	}
	for _, top := range tops {
		descend(top, 0)
	}
	var floors [][]string
	for _, name := range h.packages {
		at, reached := depth[name]
		if !reached {
			continue
		}
		for len(floors) <= at {
			floors = append(floors, nil)
		}
		floors[at] = append(floors[at], name)
	}
	return floors
}

// direct returns the imports of a package that it does not also reach through another import.
func (h house) direct(name string) []string {
	var direct []string
	for _, imported := range h.imports[name] {
		through := slices.ContainsFunc(h.imports[name], func(other string) bool {
			return other != imported && h.reaches(other, imported)
		})
		if !through {
			direct = append(direct, imported)
		}
	}
	slices.Sort(direct)
	return direct
}

func (h house) reaches(from, to string) bool {
	return slices.ContainsFunc(h.imports[from], func(imported string) bool {
		return imported == to || h.reaches(imported, to)
	})
}

// program is what is shipped.
const program = "cmd/windlass"

// drawing finds the drawing in a page.
func drawing(page string) (before, shown, after string, ok bool) {
	const fence = "```"
	before, rest, begins := strings.Cut(page, fence+"text\n"+program)
	shown, after, ends := strings.Cut(rest, fence)
	return before + fence + "text\n", program + shown, fence + after, begins && ends
}

// draw draws what the shipped program is made of, floor by floor, and then the packages that only tests import.
func (h house) draw(program string) string {
	out := &strings.Builder{}
	shipped := map[string]bool{}
	for i, floor := range h.floors(program) {
		if i > 0 {
			_, _ = fmt.Fprintln(out)
		}
		for _, name := range floor {
			shipped[name] = true
			h.arrow(out, name)
		}
	}
	_, _ = fmt.Fprintln(out, "\nonly in tests:")
	for _, name := range h.packages {
		if !shipped[name] {
			h.arrow(out, name)
		}
	}
	return out.String()
}

// arrow draws a package and the arrows that begin there.
func (h house) arrow(out io.Writer, name string) {
	line := short(name)
	if direct := h.direct(name); len(direct) > 0 {
		line = fmt.Sprintf("%-28s -> %s", line, strings.Join(folded(direct), " "))
	}
	_, _ = fmt.Fprintln(out, line)
}

// folded shortens names, and writes those in one folder together: controller/{node,nodepool}.
func folded(names []string) []string {
	folders := map[string][]string{}
	var order []string
	for _, name := range names {
		folder, base := short(name), ""
		if slash := strings.LastIndexByte(folder, '/'); slash >= 0 {
			folder, base = folder[:slash], folder[slash+1:]
		}
		if folders[folder] == nil {
			order = append(order, folder)
		}
		folders[folder] = append(folders[folder], base)
	}
	slices.SortStableFunc(order, cmp.Compare[string])
	var all []string
	for _, folder := range order {
		bases := folders[folder]
		if bases[0] == "" {
			all = append(all, folder)
			bases = bases[1:]
		}
		switch len(bases) {
		case 0:
		case 1:
			all = append(all, folder+"/"+bases[0])
		default:
			all = append(all, folder+"/{"+strings.Join(bases, ",")+"}")
		}
	}
	return all
}

// short leaves out the folder that most packages are in.
func short(name string) string { return strings.TrimPrefix(name, "internal/") }
