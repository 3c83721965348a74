// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
)

// report is what a run has found out.
type report struct {
	Machine  machine   `json:"machine"`
	Options  options   `json:"options"`
	Sections []section `json:"scenarios"`
}

// machine is what the figures depend on.
type machine struct {
	CPUs   int    `json:"cpus"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	// Load is the load average of the last minute when the run began: above 0.5 something else was running too.
	Load string `json:"load"`
}

func readMachine() machine {
	return machine{CPUs: runtime.NumCPU(), Kernel: release(firstField("/proc/sys/kernel/osrelease")), Go: runtime.Version(), Load: firstField("/proc/loadavg")}
}

// release returns the version of a kernel without what its builder has added.
func release(kernel string) string {
	parts := strings.SplitN(kernel, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func firstField(path string) string {
	raw, err := os.ReadFile(path)
	if fields := strings.Fields(string(raw)); err == nil && len(fields) > 0 {
		return fields[0]
	}
	return "unknown"
}

// section is what a scenario has found out.
type section struct {
	Scenario string    `json:"scenario"`
	Title    string    `json:"title"`
	Series   []*series `json:"series"`
	Curves   []*curve  `json:"curves,omitempty"`
	Ratios   []ratio   `json:"ratios,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Checks   []check   `json:"checks,omitempty"`
}

// measure adds a series to the section.
func (s *section) measure(name, unit string) *series {
	added := &series{Name: name, Unit: unit}
	s.Series = append(s.Series, added)
	return added
}

func (s *section) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// check is a count that has to be right.
type check struct {
	Name string `json:"name"`
	Want int    `json:"want"`
	Got  []int  `json:"got"`
}

func (c check) ok() bool {
	for _, got := range c.Got {
		if got != c.Want {
			return false
		}
	}
	return true
}

// failed returns the counts that are not right.
func (r *report) failed() []check {
	var out []check
	for _, s := range r.Sections {
		for _, c := range s.Checks {
			if !c.ok() {
				out = append(out, c)
			}
		}
	}
	return out
}

// writeText writes the report for people.
func (r *report) writeText(out io.Writer) {
	fmt.Fprintf(out, "\n%d CPUs, Linux %s, %s, load %s at the start; %d rounds after one that is dropped\n",
		r.Machine.CPUs, r.Machine.Kernel, r.Machine.Go, r.Machine.Load, r.Options.Rounds)
	for i := range r.Sections {
		r.Sections[i].writeTo(out)
	}
}

func (s *section) writeTo(out io.Writer) {
	fmt.Fprintf(out, "\n%s: %s\n", s.Scenario, s.Title)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(s.Series) > 0 {
		fmt.Fprintf(table, "\tmedian\tmin\tmax\t\n")
	}
	for _, measured := range s.Series {
		low, high := bounds(measured.Values)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t  %s\n", measured.Name, number(measured.median()), number(low), number(high), measured.Unit)
	}
	_ = table.Flush()
	writeCurves(out, s.Curves)
	for _, r := range s.Ratios {
		aim := ""
		if r.Aim > 0 {
			aim = fmt.Sprintf(", aim %s or less", number(r.Aim))
		}
		fmt.Fprintf(out, "  ratio  %s: %.2f [%.2f, %.2f]%s\n", r.Name, r.Value, r.Low, r.High, aim)
	}
	for _, c := range s.Checks {
		verdict := "ok"
		if !c.ok() {
			verdict = "WRONG"
		}
		fmt.Fprintf(out, "  count  %s: %v, want %d: %s\n", c.Name, c.Got, c.Want, verdict)
	}
	for _, note := range s.Notes {
		fmt.Fprintf(out, "  note   %s\n", note)
	}
}

func bounds(values []float64) (low, high float64) {
	for i, value := range values {
		if i == 0 {
			low, high = value, value
		}
		low, high = min(low, value), max(high, value)
	}
	return low, high
}

// number writes three digits that mean something.
func number(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	default:
		return fmt.Sprintf("%.2f", value)
	}
}
