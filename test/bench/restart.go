// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/kube"
	"github.com/windlass-operator/windlass/test/rig"
)

// restart measures how the manager comes back to a cluster where there is nothing to do.
func restart(ctx context.Context, b *bench, r *controlPlane) (section, error) {
	s := section{Title: fmt.Sprintf("the manager is started again, with a pool on %d nodes in place", b.options.Nodes)}
	if err := r.ensurePool(ctx, b.options.Nodes); err != nil {
		return s, err
	}
	floor := s.measure("floor: caches of the same kinds filled", "s")
	ready := s.measure("windlass: started until ready", "s")
	leader := s.measure("windlass: started until it leads", "s")
	cpu := s.measure("windlass: CPU until quiet", "ms")
	writes := check{Name: "writes by windlass besides its lease", Want: 0}
	err := b.interleave(ctx,
		variant{agentFloor, func(ctx context.Context, round int) error {
			took, err := r.fillCaches(ctx)
			floor.add(round, took.Seconds())
			return err
		}},
		variant{agentWindlass, func(ctx context.Context, round int) error {
			mark, err := r.audit.mark()
			if err != nil {
				return err
			}
			m, err := r.startManager(ctx)
			if err != nil {
				return err
			}
			if err := pause(ctx, 2*time.Second); err != nil { // whatever it counts and debounces comes to its end
				return err
			}
			ready.add(round, m.ready.Seconds())
			leader.add(round, m.leader.Seconds())
			cpu.add(round, float64(rig.CPUTime(m.PID).Milliseconds()))
			wrote, err := r.audit.since(mark)
			if err != nil {
				return err
			}
			writes.Got = append(writes.Got, wrote.sum(by(agentWindlass), besidesLease))
			return m.stop()
		}})
	s.Checks = append(s.Checks, writes)
	s.Ratios = append(s.Ratios, compare("windlass, from the start of its process until it leads, to the floor", leader, floor, 0))
	return s, err
}

// fillCaches fills caches as the manager's, in this process.
func (r *controlPlane) fillCaches(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := time.Now()
	filled, err := cache.New(as(r.account, agentFloor), kube.CacheOptions(r.scheme))
	if err != nil {
		return 0, fmt.Errorf("cannot make a cache: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- filled.Start(ctx) }()
	kinds := []client.Object{
		&corev1.Node{}, &corev1.Pod{}, &nodesv1.NodePool{}, &nodev1.RuntimeClass{}, &appsv1alpha1.PodSet{},
		&appsv1.Deployment{}, &policyv1.PodDisruptionBudget{},
	}
	for _, kind := range kinds {
		if _, err := filled.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return 0, fmt.Errorf("cannot watch %T: %w", kind, err)
		}
	}
	if !filled.WaitForCacheSync(ctx) {
		return 0, ctx.Err()
	}
	took = time.Since(begun)
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return 0, fmt.Errorf("cannot end the cache: %w", err)
	}
	return took, nil
}
