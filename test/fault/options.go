// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"
)

// options are what the command line says.
type options struct {
	Scenarios []string `json:"scenarios"`
	Variants  []string `json:"variants"`
	Effect    string   `json:"effect,omitempty"`
	// Some is how many scenarios are played, and Sample is how many faults; 0 is all.
	Some   int    `json:"some"`
	Sample int    `json:"sample"`
	Seed   uint64 `json:"seed"`
	// All plays also what is the same as another fault.
	All bool `json:"all"`
	// Quiet is how long nothing may be written after a run. After each scenario without a fault, and after one of rested faults, it
	// is Rest.
	Quiet time.Duration `json:"quiet"`
	Rest  time.Duration `json:"rest"`
	Lanes int           `json:"lanes"`
	// Windlass is the program that is tested.
	Windlass string `json:"-"`
	// Edits and Specs are how large the scenarios of these names are.
	Edits   int    `json:"edits"`
	Specs   int    `json:"specs"`
	JSON    string `json:"-"`
	Verbose bool   `json:"-"`
	// First ends the campaign at the first finding.
	First bool `json:"-"`
	// Sensitivity plants defects, all or these.
	Sensitivity bool     `json:"-"`
	Defects     []string `json:"-"`
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
	flags.BoolVar(&opts.All, "all", false, "play also faults that are the same as others to the manager and the cluster")
	flags.DurationVar(&opts.Quiet, "quiet", 2*time.Second, "how long nothing may be written after each run")
	flags.DurationVar(&opts.Rest, "rest", 30*time.Second, "how long it is instead after runs without a fault, and after one of 50 with one")
	flags.IntVar(&opts.Lanes, "lanes", usualLanes(), "greatest number of control planes that work side by side; fewer do on a machine that does not carry them")
	flags.IntVar(&opts.Edits, "edits", 10_000, "number of edits in each of the scenarios of that name")
	flags.IntVar(&opts.Specs, "specs", 1300, "number of specs in the scenario of that name")
	flags.StringVar(&opts.Windlass, "windlass", "", "`program` to test (default bin/windlass)")
	flags.StringVar(&opts.JSON, "json", "", "`file` to write the results to as JSON")
	flags.BoolVar(&opts.First, "first", false, "end at the first finding")
	flags.BoolVar(&opts.Sensitivity, "sensitivity", false, "plant defects, and see whether the campaign finds them")
	defects := flags.String("defect", "", "defects that -sensitivity plants, separated by commas (default all)")
	flags.BoolVar(&opts.Verbose, "v", false, "tell every run on standard error")
	flags.Usage = func() { usage(flags, out) }
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	opts.Scenarios, opts.Variants, opts.Defects = split(*chosen), split(*ways), split(*defects)
	err := opts.validate(flags.Args())
	if err != nil {
		fmt.Fprintf(out, "fault: %v\n", err)
	}
	return opts, err
}

// usualLanes is how many lanes there are at most. It takes six for a processor where runs are cheap; more only make each run dearer. Each lane needs some
// 1.5 GB.
func usualLanes() int { return min(6*runtime.NumCPU(), 28) }

func usage(flags *flag.FlagSet, out io.Writer) {
	fmt.Fprintf(out, "usage: go run ./test/fault [flags]\n\nscenarios:\n")
	all := options{}
	for _, sc := range all.all() {
		fmt.Fprintf(out, "  %s\n", sc.name)
	}
	fmt.Fprintf(out, "\nvariants:\n")
	for _, v := range variants() {
		fmt.Fprintf(out, "  %-12s %s\n", v.name, v.about)
	}
	for _, d := range disturbances() {
		fmt.Fprintf(out, "  %-12s %s\n", d.name, d.about)
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

// spares reports whether faults are left out that are the same as others. Who asks for variants or for one effect, gets them.
func (o *options) spares() bool { return o.Effect == "" && len(o.Variants) == 0 && !o.All }

// noVariant is what -variant takes to play no fault at all.
const noVariant = "none"

func (o *options) validate(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("cannot read argument %q: everything is a flag", rest[0])
	}
	for _, name := range o.Scenarios {
		if !slices.ContainsFunc(o.all(), func(sc scenario) bool { return sc.matches(name) }) {
			return fmt.Errorf("cannot play scenario %q: see -help for those that there are", name)
		}
	}
	for _, name := range o.Variants {
		known := slices.ContainsFunc(variants(), func(v variant) bool { return v.name == name }) || len(chosenDisturbances([]string{name})) > 0
		if name != noVariant && !known {
			return fmt.Errorf("cannot play variant %q: see -help for those that there are", name)
		}
	}
	if o.Lanes < 1 || o.Sample < 0 || o.Some < 0 {
		return fmt.Errorf("cannot play %d scenarios with a sample of %d on %d lanes: the numbers must be positive", o.Some, o.Sample, o.Lanes)
	}
	return nil
}

// all returns the scenarios, with those that are large in the size that was asked for.
func (o *options) all() []scenario {
	return slices.Concat(scenarios(), editScenarios(o.Edits), leaderScenarios(), outageScenarios(), specScenarios(o.Specs, o.Seed))
}

// chosen returns the scenarios to play: all that were asked for, or some that only the seed decides on.
func (o *options) chosen() []scenario {
	all := slices.DeleteFunc(o.all(), func(sc scenario) bool {
		if len(o.Scenarios) > 0 && !slices.ContainsFunc(o.Scenarios, sc.matches) {
			return true
		}
		return o.Some > 0 && (sc.slow || sc.alone)
	})
	return sample(all, o.Some, o.Seed)
}

// sample returns so many of all, or all of them for 0. It depends on nothing but the seed.
func sample[T any](all []T, size int, seed uint64) []T {
	if size == 0 || size >= len(all) {
		return all
	}
	return shuffle(all, seed)[:size]
}

// shuffle brings all into an order that depends on nothing but the seed.
func shuffle[T any](all []T, seed uint64) []T {
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// rested is how many faults there are for each after which the rest is long.
const rested = 50

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

// scenarios are the scenarios in which each write can fail.
func scenarios() []scenario {
	return slices.Concat(nodePoolScenarios(), podSetScenarios(), podBuggerToolScenarios(), virtualMachineScenarios(), clusterScenarios())
}
