// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/windlass-operator/windlass/test/rig"
)

// holding is what a manager takes that starts in a cluster that is as it should be.
type holding struct {
	plane                 *controlPlane
	ready, cpu, now, most *series
	writes                []int
}

func newHolding(r *controlPlane, s *section) *holding {
	return &holding{
		plane: r, ready: s.measure("until ready", "s"), cpu: s.measure("CPU until it rests", "s"),
		now: s.measure("resident", "MiB"), most: s.measure("resident at most", "MiB"),
	}
}

func (h *holding) round(ctx context.Context, round int) error {
	mark, err := h.plane.audit.mark()
	if err != nil {
		return err
	}
	m, err := h.plane.startManager(ctx)
	if err != nil {
		return err
	}
	if err := pause(ctx, settled); err != nil {
		return err
	}
	h.ready.add(round, m.ready.Seconds())
	h.cpu.add(round, rig.CPUTime(m.PID).Seconds())
	now, most := resident(m.PID)
	h.now.add(round, now)
	h.most.add(round, most)
	wrote, err := h.plane.audit.since(mark)
	if err != nil {
		return err
	}
	if round > 0 { // the first manager after PodSets are new may end before it has reported all of them
		h.writes = append(h.writes, wrote.sum(by(agentWindlass), besidesLease))
	}
	return m.stop()
}
