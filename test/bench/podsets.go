// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
)

// podSets measures how long many PodSets take until all of them are ready, against as many Deployments with the same pods.
func podSets(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	n := b.options.PodSets
	s := section{Title: fmt.Sprintf("%d PodSets of one pod created at once, %d at a time, against %d Deployments", n, creators, n)}
	if err := r.addNamespace(ctx); err != nil {
		return s, err
	}
	if err := r.addSimulatedNodes(ctx, n); err != nil {
		return s, err
	}
	p := newSetBench(b, r, &s)
	err := b.interleave(ctx,
		variant{variantDeployments, p.deployments}, variant{variantApplied, p.appliedDeployments}, variant{variantPodSets, p.podSets}, variant{variantFloor, p.floor})
	p.conclude()
	return s, err
}

func (p *setBench) deployments(ctx context.Context, round int) error {
	return p.untilAvailable(ctx, round, variantDeployments, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, newDeployment(setName(round, i)))
	})
}

// appliedDeployments tells what it costs the API server that Windlass applies its Deployments.
func (p *setBench) appliedDeployments(ctx context.Context, round int) error {
	return p.untilAvailable(ctx, round, variantApplied, func(ctx context.Context, i int) error {
		return applyDeployment(ctx, p.plane.Client, newDeployment(setName(round, i)))
	})
}

func (p *setBench) untilAvailable(ctx context.Context, round int, name string, send func(ctx context.Context, i int) error) error {
	err := p.run(ctx, round, name, &appsv1.Deployment{}, isAvailable, send)
	if err != nil {
		return err
	}
	return p.clean(ctx)
}

func (p *setBench) podSets(ctx context.Context, round int) error {
	m, err := p.plane.startManager(ctx)
	if err != nil {
		return err
	}
	err = p.run(ctx, round, variantPodSets, &appsv1alpha1.PodSet{}, isReady, func(ctx context.Context, i int) error {
		return p.plane.Client.Create(ctx, newPodSet(setName(round, i), 1))
	})
	if err != nil {
		return err
	}
	wrote := p.last[variantPodSets].sum(by(agentWindlass), besidesLease)
	p.perSet.add(round, float64(wrote)/float64(p.count))
	p.applied.Got = append(p.applied.Got, p.last[variantPodSets].sum(by(agentWindlass), to("deployments")))
	p.beyond.Got = append(p.beyond.Got, beyond(wrote, p.count, writesOfPodSet+progressReports(p.count, p.spent)))
	if err := m.stop(); err != nil {
		return err
	}
	if err := p.keepSample(ctx, round); err != nil {
		return err
	}
	return p.clean(ctx)
}

func (p *setBench) conclude() {
	p.out.Ratios = append(p.out.Ratios,
		compare("podsets to deployments", p.took[variantPodSets], p.took[variantDeployments], 1.2),
		compare("podsets to applied deployments", p.took[variantPodSets], p.took[variantApplied], 0),
		compare("floor to deployments", p.took[variantFloor], p.took[variantDeployments], 0),
		compare("podsets to the floor", p.took[variantPodSets], p.took[variantFloor], 0))
	p.out.Checks = append(p.out.Checks, p.applied, p.beyond, p.alike)
	for _, name := range []string{variantDeployments, variantApplied, variantPodSets, variantFloor} {
		wrote := p.last[name]
		var parts []string
		for _, agent := range wrote.agents() {
			if count := wrote.sum(by(agent), besidesLease); count > 0 {
				parts = append(parts, fmt.Sprintf("%s %.1f", agent, float64(count)/float64(p.count)))
			}
		}
		p.out.note("writes for each of the %s: %s", name, strings.Join(parts, ", "))
	}
	p.out.note("writes by windlass: %s", p.last[variantPodSets].text(by(agentWindlass)))
}

// progressReports returns how often each of so many PodSets tells how far it is in that time: together ten times a second, and each at most
// once a second and at least twice a minute (internal/flow).
func progressReports(count int, spent time.Duration) int {
	const together, soonest, latest = 10, time.Second, 30 * time.Second
	return int(spent / min(max(soonest, time.Duration(count)*time.Second/together), latest))
}
