// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"

	"github.com/moby/moby/api/types/container"

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

// Delete implements machine.Driver.
func (d *driver) Delete(ctx context.Context, id machine.Identity, how machine.PowerOff) error {
	found, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range found {
		if err := d.stop(ctx, c, how); err != nil && !errors.Is(err, machine.ErrNotFound) {
			return err
		}
		if err := d.remove(ctx, c.ID); err != nil {
			return err
		}
	}
	return d.disconnect(ctx, id)
}
