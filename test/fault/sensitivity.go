// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// sensitivity asks what the campaign would find. It applies each defect to a copy of the sources, builds it, and lets the campaign loose
// on the result, with the arguments with which it has to find the defect. One that is not found is a hole in the campaign.
type sensitivity struct {
	campaign

	// dir has the copy, and the programs that are built from it.
	dir string
	// building guards the copy.
	building sync.Mutex
	results  []*result
}

// result is what became of a defect.
type result struct {
	defect

	// found is empty for a defect that was not found.
	found string
}

// run plants all defects, or those that were asked for. An error is one of the campaign.
func (s *sensitivity) run(ctx context.Context) (err error) {
	s.begun = time.Now()
	if err := s.find(); err != nil {
		return err
	}
	defects, err := readDefects(defectFolder(s.programs.Root))
	if err != nil {
		return err
	}
	for _, d := range defects {
		if len(s.options.Defects) == 0 || slices.Contains(s.options.Defects, d.name) {
			s.results = append(s.results, &result{defect: d})
		}
	}
	defer func() { err = errors.Join(err, s.stop(ctx), os.RemoveAll(s.dir)) }()
	if err := s.copySources(); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	return each(ctx, s.lanes, s.results, s.try)
}

// sourceParts are the directories that the manager is built from.
func sourceParts() []string { return []string{"api", "cmd", "config/rbac", "internal"} }

// copySources copies what the manager is built from.
func (s *sensitivity) copySources() (err error) {
	if s.dir, err = os.MkdirTemp("", "windlass-sensitivity-"); err != nil {
		return fmt.Errorf("cannot make a directory for the copy: %w", err)
	}
	for _, part := range sourceParts() {
		if err := os.CopyFS(filepath.Join(s.source(), part), os.DirFS(filepath.Join(s.programs.Root, part))); err != nil {
			return fmt.Errorf("cannot copy the sources: %w", err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(filepath.Join(s.programs.Root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.source(), name), raw, 0o600)
		}
		if err != nil {
			return fmt.Errorf("cannot copy the sources: %w", err)
		}
	}
	return nil
}

func (s *sensitivity) source() string { return filepath.Join(s.dir, "source") }

// try plants a defect, and notes what the campaign finds.
func (s *sensitivity) try(ctx context.Context, l *lane, r *result) (err error) {
	if l.Windlass, err = s.build(ctx, r.defect); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(l.Windlass)) }()
	opts, err := parse(append([]string{"-first", "-quiet=1s", "-rest=1s", "-edits=400", "-specs=60"}, r.args...), s.progress)
	if err != nil {
		return err
	}
	c := &campaign{options: opts, progress: io.Discard, begun: time.Now(), programs: s.programs, lanes: []*lane{l}}
	played := c.play(ctx)
	for _, row := range c.rows {
		if len(row.Findings) > 0 {
			r.found = row.Findings[0].title()
		}
	}
	s.tell("%s: %s", r.name, r.found)
	if r.found == "" && played != nil {
		return fmt.Errorf("cannot play with the defect %q: %w", r.name, played)
	}
	return nil
}

// build builds the manager with the defect and returns the path of the program.
func (s *sensitivity) build(ctx context.Context, d defect) (path string, err error) {
	s.building.Lock()
	defer s.building.Unlock()
	if err := applyPatch(ctx, s.source(), d.path); err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, applyPatch(context.WithoutCancel(ctx), s.source(), d.path, "--reverse"))
	}()
	path = filepath.Join(s.dir, d.name)
	return path, command(ctx, s.source(), "go", "build", "-o", path, "./cmd/windlass")
}

// applyPatch applies a patch in a directory. Git does so outside of repositories too.
func applyPatch(ctx context.Context, dir, patch string, options ...string) error {
	return command(ctx, dir, "git", append(append([]string{"apply"}, options...), patch)...)
}

// writeText writes the table for people, and returns how many defects were not found.
func (s *sensitivity) writeText(out io.Writer) (missed int) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "defect\twhat it breaks\tfound by\t")
	for _, r := range s.results {
		if r.found == "" {
			r.found = "MISSED"
			missed++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", r.name, r.about, r.found)
	}
	_ = table.Flush()
	fmt.Fprintf(out, "\n%d of %d defects were found in %s\n", len(s.results)-missed, len(s.results), time.Since(s.begun).Round(time.Second))
	return missed
}
