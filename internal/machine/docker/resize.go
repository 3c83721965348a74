// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Resize implements machine.Driver. A limit can be changed, and set where there is none; an engine cannot lift one: ErrUnsupported.
func (d *driver) Resize(ctx context.Context, id machine.Identity, to machine.Resources) error {
	now, err := d.get(ctx, id)
	if err != nil {
		return err
	}
	if now.Resources == to {
		return nil
	}
	what := fmt.Sprintf("resize container %q", now.NativeName)
	if err := checkSize(to); err != nil {
		return fmt.Errorf("cannot %s: %w", what, err)
	}
	if to.MilliCPU == 0 && now.Resources.MilliCPU != 0 || to.MemoryBytes == 0 && now.Resources.MemoryBytes != 0 {
		return fmt.Errorf("cannot %s: %w: a container that has a limit cannot lose it", what, machine.ErrUnsupported)
	}
	return d.update(ctx, now, what, to)
}

// update sends what differs and nothing else: a limit that is sent again is applied again.
func (d *driver) update(ctx context.Context, now machine.Observed, what string, to machine.Resources) error {
	var limits container.Resources
	wanted := limitsOf(to)
	if to.MilliCPU != now.Resources.MilliCPU {
		limits.NanoCPUs = wanted.NanoCPUs
	}
	if to.MemoryBytes != now.Resources.MemoryBytes {
		limits.Memory, limits.MemorySwap = wanted.Memory, wanted.MemorySwap
	}
	_, err := d.api.ContainerUpdate(ctx, now.ID, client.ContainerUpdateOptions{Resources: &limits})
	if err != nil && now.State == machine.StateRunning && inUse(err) {
		return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrRestartRequired, err)
	}
	return d.explainSize(ctx, what, to, err)
}

// inUse tells whether the kernel refused to take away memory that is in use. Engines have no kind of error for it, only the kernel's words
// (cgroup v1) or the runtime's (v2).
func inUse(err error) bool {
	words := err.Error()
	return strings.Contains(words, "device or resource busy") || strings.Contains(words, "unable to set memory limit")
}
