// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Start implements machine.Driver. It resumes a container that is paused.
func (d *driver) Start(ctx context.Context, id machine.Identity) error {
	found, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return notFound(id)
	}
	switch found[0].State {
	case container.StateRunning:
		return nil
	case container.StatePaused:
		return d.resume(ctx, found[0].ID)
	default:
		return d.startConnected(ctx, found)
	}
}

// Stop implements machine.Driver.
func (d *driver) Stop(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	found, err := d.only(ctx, id)
	if err != nil {
		return err
	}
	return d.stop(ctx, found, how)
}

// Suspend implements machine.Driver.
func (d *driver) Suspend(ctx context.Context, id machine.Identity) error {
	found, err := d.only(ctx, id)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("suspend container %.12q", found.ID)
	switch found.State {
	case container.StatePaused:
		return nil
	case container.StateRunning:
	default:
		return fmt.Errorf("cannot %s: %w", what, machine.ErrOff)
	}
	_, refusal := d.api.ContainerPause(ctx, found.ID, client.ContainerPauseOptions{})
	if !errdefs.IsConflict(refusal) {
		return explain(ctx, what, refusal)
	}
	// It has ended, or somebody else has suspended it.
	now, err := d.get(ctx, id)
	switch {
	case err != nil:
		return err
	case now.State == machine.StatePaused:
		return nil
	case now.State == machine.StateRunning:
		return explain(ctx, what, refusal)
	}
	return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrOff, refusal)
}

// Delete implements machine.Driver.
func (d *driver) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	found, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range found {
		err := d.end(ctx, c, how)
		if errors.Is(err, machine.ErrBusy) && how.Mode != machine.Soft {
			c.State = container.StateRunning // a start that outlived its instance came in between
			err = d.end(ctx, c, how)
		}
		if err != nil {
			return err
		}
	}
	return d.disconnect(ctx, id)
}

// end stops a container and removes it. ErrBusy if it obeys no soft stop, or if somebody has started it again.
func (d *driver) end(ctx context.Context, c container.Summary, how machine.PowerOff) error {
	if err := d.stop(ctx, c, how); err != nil && !errors.Is(err, machine.ErrNotFound) {
		return err
	}
	return d.remove(ctx, c.ID)
}
