// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report is what a campaign has found out.
type report struct {
	Options options       `json:"options"`
	Took    time.Duration `json:"took"`
	Rows    []*row        `json:"scenarios"`
	// Costs is the processor time of the runs with a fault, by program, in nanoseconds.
	Costs costs `json:"costs"`
	// Lanes is how many control planes worked side by side at most.
	Lanes int `json:"lanes"`
	// Restarts is how many control planes were given up, because the campaign could not finish a run on them.
	Restarts int `json:"restarts"`
}

// findings counts what was found.
func (r *report) findings() int {
	count := 0
	for _, row := range r.Rows {
		count += len(row.Findings)
	}
	return count
}

// writeText writes the tables for people: the variants, and what became of each scenario.
func (r *report) writeText(out io.Writer) {
	fmt.Fprintln(out, "\nvariants:")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range r.Options.variants() {
		fmt.Fprintf(table, "  %s\t%s\n", v.name, v.about)
	}
	_ = table.Flush()
	fmt.Fprintln(out)
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "scenario\twrites\tsame\tcases\truns\tmissed\tfindings\tslowest\t\n")
	var total row
	for _, row := range r.Rows {
		row.line(table, len(row.Effects), len(row.Findings))
		total.Cases, total.Runs, total.Missed, total.Same = total.Cases+row.Cases, total.Runs+row.Runs, total.Missed+row.Missed, total.Same+row.Same
		total.Slowest = max(total.Slowest, row.Slowest)
		total.Effects = append(total.Effects, row.Effects...)
	}
	total.Scenario = "total"
	total.line(table, len(total.Effects), r.findings())
	_ = table.Flush()
	sample := "every case"
	if r.Options.Sample > 0 {
		sample = fmt.Sprintf("a sample with seed %d", r.Options.Seed)
	}
	fmt.Fprintf(out, "\n%s; %s of rest after each run, %s after one of %d; at most %d lanes; %s\n",
		sample, r.Options.Quiet, r.Options.rest(0), rested, r.Lanes, r.Took.Round(time.Second))
	if r.Restarts > 0 {
		fmt.Fprintf(out, "%d control planes were given up, and what was played on them was played again on new ones\n", r.Restarts)
	}
	fmt.Fprintln(out, r.Costs.per(total.Runs))
}

func (r *row) line(out io.Writer, effects, findings int) {
	fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\t\n", r.Scenario, effects, r.Same, r.Cases, r.Runs, r.Missed, findings, r.Slowest.Seconds())
}
