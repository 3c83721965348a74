// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fault runs bin/windlass against control planes of its own while calls fail. A proxy between the manager and the API server
// sees each write. The program plays scenarios, such as "a pool is created", first without a fault; then once more for each write and
// each way in which it can go wrong. After each run the state of the cluster must be the one of the run without a fault, field by
// field; nothing else may be there; and nothing may be written any more.
//
// docs/reliability.md shows what it has found out, and docs/design/0023-fault-campaign.md says why it works as it does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	if isTool(os.Args[0]) {
		os.Exit(runTool(os.Args[1:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the campaign and returns the exit code of the process.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	log.SetLogger(logr.Discard())
	opts, err := parse(args, progress)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	c := &campaign{options: opts, progress: progress}
	err = c.run(ctx)
	report := &report{Options: opts, Took: time.Since(c.begun), Rows: c.rows}
	report.writeText(out)
	if opts.JSON != "" {
		err = errors.Join(err, report.writeJSON(opts.JSON))
	}
	if err != nil {
		fmt.Fprintf(progress, "fault: %v\n", err)
		return exitFailure
	}
	if found := report.findings(); found > 0 {
		fmt.Fprintf(progress, "fault: %d findings\n", found)
		return exitFailure
	}
	return 0
}

// options are what the command line says.
type options struct {
	Scenarios []string `json:"scenarios"`
	Variants  []string `json:"variants"`
	Effect    string   `json:"effect,omitempty"`
	// Some is how many scenarios are played, and Sample is how many faults; 0 is all.
	Some   int    `json:"some"`
	Sample int    `json:"sample"`
	Seed   uint64 `json:"seed"`
	// Quiet is how long nothing may be written after a run. After each scenario without a fault, and after one of rested faults, it
	// is Rest.
	Quiet time.Duration `json:"quiet"`
	Rest  time.Duration `json:"rest"`
	Lanes int           `json:"lanes"`
	// Windlass is the program that is tested.
	Windlass string `json:"-"`
	JSON     string `json:"-"`
	Verbose  bool   `json:"-"`
}

func parse(args []string, out io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("fault", flag.ContinueOnError)
	flags.SetOutput(out)
	chosen := flags.String("scenario", "", "scenarios to play, separated by commas; a kind stands for all of its scenarios (default all)")
	ways := flags.String("variant", "", "variants to play, separated by commas, or none (default all)")
	flags.StringVar(&opts.Effect, "effect", "", "the only write that fails, as a finding names it (default each)")
	flags.IntVar(&opts.Some, "some", 0, "number of scenarios to play, chosen by -seed among those that are not slow (default all)")
	flags.IntVar(&opts.Sample, "sample", 0, "number of faults to play, chosen by -seed (default all)")
	flags.Uint64Var(&opts.Seed, "seed", 1, "seed of the sample")
	flags.DurationVar(&opts.Quiet, "quiet", 3*time.Second, "how long nothing may be written after each run")
	flags.DurationVar(&opts.Rest, "rest", 30*time.Second, "how long it is instead after runs without a fault, and after one of 20 with one")
	flags.IntVar(&opts.Lanes, "lanes", 6, "number of control planes that work side by side")
	flags.StringVar(&opts.Windlass, "windlass", "", "`program` to test (default bin/windlass)")
	flags.StringVar(&opts.JSON, "json", "", "`file` to write the results to as JSON")
	flags.BoolVar(&opts.Verbose, "v", false, "tell every run on standard error")
	flags.Usage = func() { usage(flags, out) }
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	opts.Scenarios, opts.Variants = split(*chosen), split(*ways)
	err := opts.validate(flags.Args())
	if err != nil {
		fmt.Fprintf(out, "fault: %v\n", err)
	}
	return opts, err
}

func usage(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprintf(out, "usage: go run ./test/fault [flags]\n\nscenarios:\n")
	for _, sc := range scenarios() {
		fmt.Fprintf(out, "  %s\n", sc.name)
	}
	fmt.Fprintf(out, "\nvariants:\n")
	for _, v := range variants() {
		fmt.Fprintf(out, "  %-12s %s\n", v.name, v.about)
	}
	fmt.Fprintf(out, "\nflags:\n")
	flags.PrintDefaults()
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// noVariant is what -variant takes to play no fault at all.
const noVariant = "none"

func (o *options) validate(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("cannot read argument %q: everything is a flag", rest[0])
	}
	for _, name := range o.Scenarios {
		if !slices.ContainsFunc(scenarios(), func(sc scenario) bool { return sc.matches(name) }) {
			return fmt.Errorf("cannot play scenario %q: see -help for those that there are", name)
		}
	}
	for _, name := range o.Variants {
		if name != noVariant && !slices.ContainsFunc(variants(), func(v variant) bool { return v.name == name }) {
			return fmt.Errorf("cannot play variant %q: see -help for those that there are", name)
		}
	}
	if o.Lanes < 1 || o.Sample < 0 || o.Some < 0 {
		return fmt.Errorf("cannot play %d scenarios with a sample of %d on %d lanes: the numbers must be positive", o.Some, o.Sample, o.Lanes)
	}
	return nil
}

// chosen returns the scenarios to play: all that were asked for, or some that only the seed decides on.
func (o *options) chosen() []scenario {
	all := scenarios()
	if len(o.Scenarios) > 0 {
		all = slices.DeleteFunc(all, func(sc scenario) bool { return !slices.ContainsFunc(o.Scenarios, sc.matches) })
	}
	if o.Some > 0 {
		all = slices.DeleteFunc(all, func(sc scenario) bool { return sc.slow })
	}
	return sample(all, o.Some, o.Seed)
}

// sample returns so many of all, or all of them for 0. It depends on nothing but the seed.
func sample[T any](all []T, size int, seed uint64) []T {
	if size == 0 || size >= len(all) {
		return all
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:size]
}

// rested is how many faults there are for each after which the rest is long.
const rested = 20

// rest returns how long nothing may be written after the nth run with a fault.
func (o *options) rest(n int) time.Duration {
	if n%rested == 0 {
		return max(o.Quiet, o.Rest)
	}
	return o.Quiet
}

// variants returns the variants to play.
func (o *options) variants() []variant {
	if len(o.Variants) == 0 {
		return variants()
	}
	return slices.DeleteFunc(variants(), func(v variant) bool { return !slices.Contains(o.Variants, v.name) })
}
