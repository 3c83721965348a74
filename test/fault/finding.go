// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// finding is something that is wrong after a run.
type finding struct {
	// Class is what is wrong: divergence, leak, stuck, restless, write at rest, unguarded, twice, silent, panic or broken,
	// unprepared where the fault had no chance to happen, or unplayed where the campaign could not finish the run.
	Class string `json:"class"`
	// Detail shows it.
	Detail string `json:"detail"`

	Scenario string `json:"scenario"`
	// Effect and Variant are the fault. They are empty for a run without one.
	Effect  *effect `json:"effect,omitempty"`
	Variant string  `json:"variant,omitempty"`
	// Log is what the manager has logged.
	Log string `json:"log"`
}

// add adds a finding, if there is one.
func (o *outcome) add(f *finding) {
	if f != nil {
		o.Findings = append(o.Findings, *f)
	}
}

// title is what was found, and after which fault, in a few words.
func (f *finding) title() string {
	switch {
	case f.Effect != nil:
		return fmt.Sprintf("%s, %s at write %d (%s): %s", f.Scenario, f.Variant, f.Effect.Number, f.Effect, f.Class)
	case f.Variant != "":
		return fmt.Sprintf("%s, %s: %s", f.Scenario, f.Variant, f.Class)
	}
	return fmt.Sprintf("%s: %s", f.Scenario, f.Class)
}

// repeat is the command that repeats the run of the finding alone.
func (f *finding) repeat() string {
	if f.Effect == nil {
		return fmt.Sprintf("go run ./test/fault -scenario %s -variant %s", f.Scenario, cmp.Or(f.Variant, noVariant))
	}
	return fmt.Sprintf("go run ./test/fault -scenario %s -effect %q -variant %s", f.Scenario, f.Effect.String(), f.Variant)
}

// logTail is how much of the log of a manager a finding prints.
const logTail = 3000

// writeTo writes the finding for people.
func (f *finding) writeTo(out io.Writer) {
	fmt.Fprintf(out, "\n%s: %s", f.Scenario, f.Class)
	switch {
	case f.Effect == nil && f.Variant != "":
		fmt.Fprintf(out, " after %s", f.Variant)
	case f.Effect != nil:
		fmt.Fprintf(out, " after %s at write %d, %s (%s)", f.Variant, f.Effect.Number, f.Effect, f.Effect.Path)
	}
	fmt.Fprintf(out, "\n  repeat: %s\n", f.repeat())
	for line := range strings.Lines(strings.TrimSpace(f.Detail) + "\n") {
		fmt.Fprintf(out, "    %s", line)
	}
	fmt.Fprintln(out, "  the end of the manager's log:")
	for line := range strings.Lines(f.Log[max(0, len(f.Log)-logTail):]) {
		fmt.Fprintf(out, "    %s", line)
	}
}
