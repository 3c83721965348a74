// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Stats implements machine.Driver. The engine has no call for more than one container, so each is asked on its own, some at the same time,
// and each for one reading: with two, as is the default, the engine waits for a second in between.
func (d *driver) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	running := within(installation).Add("status", string(container.StateRunning), string(container.StatePaused))
	found, err := d.machines(ctx, running)
	if err != nil {
		return nil, err
	}
	samples, err := each(ctx, d.readers, found, func(ctx context.Context, c container.Summary) (machine.Sample, error) {
		sample, err := d.sample(ctx, c.ID)
		if err != nil && (unreachable(err) || ctx.Err() != nil) {
			return machine.Sample{}, explain(ctx, "read counters", err)
		}
		return sample, nil // What is not there has no time, and is left out.
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]machine.Sample, len(found))
	for i, sample := range samples {
		if !sample.At.IsZero() {
			out[found[i].Labels[labelUID]] = sample
		}
	}
	return out, nil
}

// sample reads the counters of one container.
func (d *driver) sample(ctx context.Context, id string) (machine.Sample, error) {
	inspected, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return machine.Sample{}, err
	}
	c := inspected.Container
	if c.State == nil || c.HostConfig == nil || !c.State.Running {
		return machine.Sample{}, nil
	}
	result, err := d.api.ContainerStats(ctx, id, client.ContainerStatsOptions{})
	if err != nil {
		return machine.Sample{}, err
	}
	defer result.Body.Close()
	var stats container.StatsResponse
	if err := json.NewDecoder(io.LimitReader(result.Body, maxStats)).Decode(&stats); err != nil {
		return machine.Sample{}, fmt.Errorf("cannot read counters of container %.12q: %w", id, err)
	}
	return sampleOf(stats, c.State.StartedAt, resourcesOf(c.HostConfig.Resources)), nil
}

// maxStats bounds an answer. A usual one has 2 KiB.
const maxStats = 1 << 20

// sampleOf translates a reading. A container that has ended in the meantime has none: the engine then answers with zeros.
func sampleOf(stats container.StatsResponse, boot string, limits machine.Resources) machine.Sample {
	if stats.Read.Year() <= 1 || stats.CPUStats.CPUUsage.TotalUsage == 0 && stats.MemoryStats.Usage == 0 {
		return machine.Sample{}
	}
	return machine.Sample{
		At:          stats.Read,
		Boot:        boot,
		CPU:         time.Duration(stats.CPUStats.CPUUsage.TotalUsage), //nolint:gosec // because 292 years of CPU time fit
		MemoryBytes: workingSet(stats.MemoryStats),
		Limits:      limits,
	}
}

// workingSet is the memory in use without the file cache that the kernel can drop at once. The first is the name in cgroup v1, whose
// inactive_file leaves out the groups below; the second is that of v2; the last is what old kernels had.
func workingSet(memory container.MemoryStats) int64 {
	for _, droppable := range []string{"total_inactive_file", "inactive_file", "cache"} {
		if bytes, ok := memory.Stats[droppable]; ok {
			return int64(memory.Usage - min(bytes, memory.Usage)) //nolint:gosec // because no machine has so much memory
		}
	}
	return int64(memory.Usage) //nolint:gosec // because no machine has so much memory
}
