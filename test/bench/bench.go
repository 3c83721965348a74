// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// scenario is one row of the table of scenarios.
type scenario struct {
	name, about string
	// whole is true where pods have to run: the control plane then has all its parts, and simulated nodes.
	whole bool
	// alone is true where the nodes are not those of the other scenarios: it runs only when asked for.
	alone bool
	run   func(ctx context.Context, b *bench, r *rig) (section, error)
}

// scenarios is the table of scenarios, in the order in which they run. Those that share a control plane build on what
// the ones before them have left, and make what they need if they run alone.
func scenarios() []scenario {
	return []scenario{
		{name: "nodepool-apply", about: "a pool on many nodes, against a bare loop of patches", run: nodePoolApply},
		{name: "steady", about: "nodes that report their health while nothing changes", run: steady},
		{name: "restart", about: "the manager comes back to a cluster that is as it should be", run: restart},
		{name: "memory", about: "what the manager holds", run: memory},
		{name: "pools", about: "many pools at once, and nodes in two of them; runs alone", alone: true, run: pools},
		{name: "gateway", about: "lists and streams of the HTTP API, against the API server; runs alone", alone: true, run: gatewayLists},
		{name: variantMachines, about: "many VirtualMachines at once on simulated hosts, and while nothing changes; runs alone", alone: true, run: machines},
		{name: variantContainers, about: "a hundred VirtualMachines at once on a Docker Engine of its own; needs root; runs alone", alone: true, run: containers},
		{name: variantClusters, about: "many Clusters at once with a scripted tool, and while nothing changes; runs alone", alone: true, run: clusters},
		{name: variantPodSets, about: "many PodSets at once, against as many Deployments", whole: true, run: podSets},
	}
}

// bench is one run of the program.
type bench struct {
	options  options
	progress io.Writer
	start    time.Time
	sections []section
}

// runAll runs the chosen scenarios, those without pods first, each group on a control plane of its own.
func (b *bench) runAll(ctx context.Context) error {
	for _, whole := range []bool{false, true} {
		var chosen []scenario
		for _, s := range scenarios() {
			if s.whole == whole && slices.Contains(b.options.Scenarios, s.name) {
				chosen = append(chosen, s)
			}
		}
		if len(chosen) == 0 {
			continue
		}
		if err := b.runOn(ctx, whole, chosen); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) runOn(ctx context.Context, whole bool, chosen []scenario) (err error) {
	b.tell("starting a control plane")
	r, err := startRig(ctx, b, whole)
	defer func() { err = errors.Join(err, r.stop()) }()
	if err != nil {
		return err
	}
	for _, s := range chosen {
		b.tell("%s", s.name)
		result, err := s.run(ctx, b, r)
		result.Scenario = s.name
		b.sections = append(b.sections, result)
		if err != nil {
			return fmt.Errorf("cannot finish %s: %w", s.name, err)
		}
	}
	return nil
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
