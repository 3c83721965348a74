// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// scenario is one row of the table of scenarios.
type scenario struct {
	name, about string
	// whole is true where pods have to run: the control plane then has all its parts, and simulated nodes.
	whole bool
	// alone is true where the nodes are not those of the other scenarios: it runs only when asked for.
	alone bool
	run   func(ctx context.Context, b *bench, r *controlPlane) (section, error)
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
		{name: "growth-nodes", about: "a pool on more and more nodes, as curves; runs alone", alone: true, run: growthOverNodes},
		{name: "growth-pools", about: "the same nodes divided among more and more pools, as curves; runs alone", alone: true, run: growthOverPools},
		{name: "growth-pods", about: "the manager beside more and more pods, as curves; runs alone", alone: true, run: growthOverPods},
		{name: "gateway", about: "lists, streams and followed logs of the HTTP API, against the API server; runs alone", alone: true, run: gatewayLists},
		{name: variantMachines, about: "many VirtualMachines at once on simulated hosts, and while nothing changes; runs alone", alone: true, run: machines},
		{name: variantContainers, about: "a hundred VirtualMachines at once on a Docker Engine of its own; needs root; runs alone", alone: true, run: containers},
		{name: variantClusters, about: "many Clusters at once with a scripted tool, and while nothing changes; runs alone", alone: true, run: clusters},
		{name: variantPodSets, about: "many PodSets at once, against as many Deployments", whole: true, run: podSets},
	}
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
	r, err := startControlPlane(ctx, b, whole)
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
