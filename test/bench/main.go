// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what the manager costs, against what the same work costs without it. It starts a control plane
// of its own (see controlPlane), runs bin/windlass as a child process with the rights that it is shipped with, and prints medians,
// their spread and ratios of medians of rounds that were run side by side. docs/performance.md says how to read them.
//
// Times are never asserted: on another machine, or on this one on another day, they are others. With -check the number of
// writes is: it is the same everywhere.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the bench and returns the exit code of the process.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	opts, err := parse(args, progress)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	if opts.Results != "" {
		return convert(opts.Results, out, progress)
	}
	b := &bench{options: opts, progress: progress}
	begun := b.begin()
	err = b.runAll(ctx)
	report := &report{Machine: begun, Options: opts, Sections: b.sections}
	report.writeText(out)
	if err == nil && opts.JSON != "" {
		err = rig.WriteResults(opts.JSON, report)
	}
	if err != nil {
		fmt.Fprintf(progress, "bench: %v\n", err)
		return exitFailure
	}
	if failed := report.failed(); opts.Check && len(failed) > 0 {
		fmt.Fprintf(progress, "bench: %d counts are not as they should be\n", len(failed))
		return exitFailure
	}
	return 0
}

// convert prints the results of an earlier run for benchstat.
func convert(path string, out, progress io.Writer) int {
	report, err := readReport(path)
	if err != nil {
		fmt.Fprintf(progress, "bench: %v\n", err)
		return exitFailure
	}
	report.writeBenchmarks(out)
	return 0
}

// options are what the command line says.
type options struct {
	Scenarios []string `json:"scenarios"`
	Nodes     int      `json:"nodes"`
	Rounds    int      `json:"rounds"`
	PodSets   int      `json:"podsets"`
	Pods      int      `json:"pods"`
	Machines  int      `json:"vms"`
	// Sizes are those of the scenarios of growth, ascending; none for the usual ones.
	Sizes []int `json:"sizes,omitempty"`
	// Window is how long the machines are watched while nothing changes.
	Window time.Duration `json:"window"`
	// Windlass is the program that is measured.
	Windlass string `json:"-"`
	// Pprof is where the manager serves its profiles; empty for nowhere.
	Pprof   string `json:"-"`
	JSON    string `json:"-"`
	Check   bool   `json:"-"`
	Verbose bool   `json:"-"`
	// Results is the file of an earlier run to print in place of a run.
	Results string `json:"-"`
}

func parse(args []string, out io.Writer) (options, error) {
	var opts options
	var names, usual []string
	for _, s := range scenarios() {
		names = append(names, s.name)
		if !s.alone {
			usual = append(usual, s.name)
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	chosen := flags.String("scenario", strings.Join(usual, ","), "scenarios to run, separated by commas")
	flags.IntVar(&opts.Nodes, "nodes", 1000, "number of nodes")
	flags.IntVar(&opts.Rounds, "rounds", 5, "rounds that count; one more comes before them and is dropped")
	flags.IntVar(&opts.PodSets, "podsets", 500, "number of PodSets that are created at once")
	flags.IntVar(&opts.Pods, "pods", 5000, "number of pods of PodSets in the scenario memory")
	flags.IntVar(&opts.Machines, "vms", 1000, "number of VirtualMachines that are created at once")
	flags.Func("sizes", "sizes of the growth scenarios, ascending, separated by commas (default those of docs/performance.md)", func(text string) (err error) {
		opts.Sizes, err = readSizes(text)
		return err
	})
	flags.DurationVar(&opts.Window, "window", 5*time.Minute, "how long VirtualMachines are watched while nothing changes; 0 for not at all")
	flags.StringVar(&opts.Windlass, "windlass", "", "`program` to measure (default bin/windlass)")
	flags.StringVar(&opts.Pprof, "pprof", "", "`address` at which the manager serves its profiles, as 127.0.0.1:6060")
	flags.StringVar(&opts.JSON, "json", "", "`file` to write the results to as JSON")
	flags.BoolVar(&opts.Check, "check", false, "fail if a number of writes is not what it should be")
	flags.StringVar(&opts.Results, "benchfmt", "", "`file` with the results of an earlier run, to print as results of Go benchmarks in place of a run")
	flags.BoolVar(&opts.Verbose, "v", false, "tell every round on standard error")
	flags.Usage = func() {
		fmt.Fprintf(out, "usage: go run ./test/bench [flags]\n\nscenarios:\n")
		for _, s := range scenarios() {
			fmt.Fprintf(out, "  %-16s %s\n", s.name, s.about)
		}
		fmt.Fprintf(out, "\nflags:\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	opts.Scenarios = strings.Split(*chosen, ",")
	err := opts.validate(flags.Args(), names)
	if err != nil {
		fmt.Fprintf(out, "bench: %v\n", err)
	}
	return opts, err
}

// readSizes reads the argument of -sizes.
func readSizes(text string) (sizes []int, err error) {
	last := 0
	for each := range strings.SplitSeq(text, ",") {
		size, err := strconv.Atoi(each)
		if err != nil || size <= last {
			return nil, fmt.Errorf("cannot read %q: give ascending numbers, as in 1000,5000", text)
		}
		last = size
		sizes = append(sizes, size)
	}
	return sizes, nil
}

func (o options) validate(rest, known []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("cannot read argument %q: everything is a flag", rest[0])
	}
	for _, name := range o.Scenarios {
		if !slices.Contains(known, name) {
			return fmt.Errorf("cannot run scenario %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	for name, value := range map[string]int{"nodes": o.Nodes, "rounds": o.Rounds, variantPodSets: o.PodSets, "pods": o.Pods, variantMachines: o.Machines} {
		if value < 1 {
			return fmt.Errorf("cannot run with -%s=%d: it has to be positive", name, value)
		}
	}
	return nil
}
