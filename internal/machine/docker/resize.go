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

// Resize implements machine.Driver. Limits can be set and changed, but an engine cannot remove one: ErrUnsupported.
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
		return fmt.Errorf("cannot %s: %w: an engine cannot remove the limit of a container", what, machine.ErrUnsupported)
	}
	return d.update(ctx, now, what, to)
}

// update sends only what differs: a limit that is sent again is applied again.
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

// inUse reports whether the kernel refused to reclaim memory that is in use. Engines have no error type for it, only the text of the
// kernel (cgroup v1) or the runtime (v2).
func inUse(err error) bool {
	text := err.Error()
	return strings.Contains(text, "device or resource busy") || strings.Contains(text, "unable to set memory limit")
}
