// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Stats implements machine.Driver. The engine has no call for several containers, so each one is a call. It asks for one reading only:
// by default the engine takes two, and waits for a second in between.
func (d *driver) Stats(ctx context.Context, installation string) (map[string]machine.Sample, error) {
	running := within(installation).Add("status", string(container.StateRunning), string(container.StatePaused))
	all, err := d.list(ctx, running)
	if err != nil {
		return nil, err
	}
	found := machines(all)
	samples, err := each(ctx, d.readers, found, func(ctx context.Context, c container.Summary) (machine.Sample, error) {
		sample, late, err := machine.Briefly(ctx, func(ctx context.Context) (machine.Sample, error) { return d.sample(ctx, c.ID) })
		if err != nil && !late && (unreachable(err) || ctx.Err() != nil) {
			return machine.Sample{}, explain(ctx, "read counters", err)
		}
		return sample, nil // without a time if there is none
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
	switch err := json.NewDecoder(io.LimitReader(result.Body, maxStats)).Decode(&stats); {
	case errors.Is(err, io.EOF): // it ended before it was read: the answer is complete, and empty
		return machine.Sample{}, nil
	case err != nil:
		return machine.Sample{}, fmt.Errorf("cannot read counters of container %.12q: %w", id, err)
	}
	return sampleOf(stats, c.State.StartedAt, resourcesOf(c.HostConfig.Resources)), nil
}

// maxStats bounds an answer, which usually has 2 KiB.
const maxStats = 1 << 20

// sampleOf translates a reading. For a container that has ended in the meantime the engine answers with zeros.
func sampleOf(stats container.StatsResponse, boot string, limits machine.Resources) machine.Sample {
	if stats.Read.Year() <= 1 || stats.CPUStats.CPUUsage.TotalUsage == 0 && stats.MemoryStats.Usage == 0 {
		return machine.Sample{}
	}
	return machine.Sample{
		At:          stats.Read,
		Boot:        boot,
		CPU:         time.Duration(signed(stats.CPUStats.CPUUsage.TotalUsage)),
		MemoryBytes: workingSet(stats.MemoryStats),
		Limits:      limits,
	}
}

// workingSet is the memory in use without the file cache that the kernel can drop at once. That is total_inactive_file in cgroup v1,
// whose inactive_file omits the child groups, inactive_file in v2, and cache in old kernels.
func workingSet(memory container.MemoryStats) int64 {
	for _, droppable := range []string{"total_inactive_file", "inactive_file", "cache"} {
		if bytes, ok := memory.Stats[droppable]; ok {
			return signed(memory.Usage - min(bytes, memory.Usage))
		}
	}
	return signed(memory.Usage)
}

// signed converts a counter of the engine. No real one comes near the maximum.
func signed(counter uint64) int64 {
	if counter > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(counter)
}
