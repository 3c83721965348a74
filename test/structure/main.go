// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command structure measures how well the files of a package read from top to bottom: a reader who follows the calls should
// only ever go down, from the file that states the purpose to the files that hold the details.
//
//	go run ./test/structure [-v] [-C folder] [packages]
//	go run ./test/structure -arrows ARCHITECTURE.md
//
// Definition. One declaration that uses a function or method of another file of its package counts as one call between files,
// however often it does so. Methods of interfaces do not count: a caller of an interface does not know the file behind it.
// Tests and generated files are left out. The files are put in the order in which the fewest calls run up (a minimum feedback
// arc set), after doc.go, main.go and controller.go, which a reader opens first. The share is the calls that still run up,
// divided by all calls between files. It is zero exactly if no files form a cycle.
//
// Uses are counted in the same way, in an order of their own: calls, and also types, constants and variables of another file.
// A method that is not in the file of its receiver's type is such a use, so they tell how many files know the central type.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	folder := flag.String("C", ".", "folder of the module to measure")
	page := flag.String("arrows", "", "draw which package imports which in the page of this name, instead")
	verbose := flag.Bool("v", false, "list the calls that run up, and the order of the files")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *folder, *page, *verbose, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, folder, page string, verbose bool, patterns []string) error {
	if page != "" {
		return redraw(ctx, folder, page)
	}
	measured, err := measure(ctx, folder, patterns...)
	if err == nil {
		report(out, measured, verbose)
	}
	return err
}

// redraw replaces the drawing in a page.
func redraw(ctx context.Context, folder, page string) error {
	h, err := survey(ctx, folder)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("cannot read page: %w", err)
	}
	before, shown, after, ok := drawing(string(raw))
	if !ok {
		return fmt.Errorf("cannot find the drawing in %q: a block that begins with %s", page, program)
	}
	if drawn := h.draw(program); drawn != shown {
		err = os.WriteFile(page, []byte(before+drawn+after), 0o644) //nolint:gosec // a page that everybody reads
	}
	return err
}

// measurement is the best order of a package's files for its calls, and for all uses.
type measurement struct {
	path        string
	calls, uses arrangement
}

// measure measures packages, by default all packages of the module in the folder.
func measure(ctx context.Context, folder string, patterns ...string) ([]measurement, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := load(ctx, folder, patterns)
	if err != nil {
		return nil, err
	}
	measured := make([]measurement, 0, len(packages))
	for _, loaded := range packages {
		measured = append(measured, measurement{
			path:  loaded.path,
			calls: arrange(loaded.files, loaded.calls()),
			uses:  arrange(loaded.files, loaded.uses()),
		})
	}
	return measured, nil
}
