// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// bench is one run of the program.
type bench struct {
	options  options
	progress io.Writer
	start    time.Time
	sections []section
}

func (b *bench) begin() machine {
	b.start = time.Now()
	return readMachine()
}

// tell says on standard error what goes on.
func (b *bench) tell(format string, args ...any) {
	fmt.Fprintf(b.progress, "%4ds  %s\n", int(time.Since(b.start).Seconds()), fmt.Sprintf(format, args...))
}

// detail is for -v.
func (b *bench) detail(format string, args ...any) {
	if b.options.Verbose {
		b.tell("      "+format, args...)
	}
}

// variant is one of the things that are measured side by side.
type variant struct {
	name string
	run  func(ctx context.Context, round int) error
}

// interleave runs the variants in turns, every second time in the opposite order: A B, B A, A B. Whatever drifts during the
// run, such as a growing database or another load on the machine, meets all of them alike. Round 0 does not count.
func (b *bench) interleave(ctx context.Context, variants ...variant) error {
	for round := range b.options.Rounds + 1 {
		for _, v := range variants {
			b.detail("round %d: %s", round, v.name)
			if err := v.run(ctx, round); err != nil {
				return fmt.Errorf("cannot run %s in round %d: %w", v.name, round, err)
			}
		}
		slices.Reverse(variants)
	}
	return nil
}
