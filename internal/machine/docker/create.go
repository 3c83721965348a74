// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Create implements machine.Driver.
func (d *driver) Create(ctx context.Context, spec machine.Spec) (machine.Observed, error) {
	observed, err := d.get(ctx, spec.Identity)
	if !errors.Is(err, machine.ErrNotFound) {
		return observed, err
	}
	options, err := d.connected(ctx, spec)
	if err != nil {
		return machine.Observed{}, fmt.Errorf("cannot create a container for machine %q: %w", spec.UID, err)
	}
	return d.create(ctx, spec, options)
}

// connected returns the options of a container in the network of its namespace, which exists.
func (d *driver) connected(ctx context.Context, spec machine.Spec) (client.ContainerCreateOptions, error) {
	options, err := optionsOf(spec, d.policy)
	if err != nil {
		return options, err
	}
	options.HostConfig.NetworkMode, err = d.networkMode(ctx, spec.Identity)
	return options, err
}

// create creates the container under the first free name.
func (d *driver) create(ctx context.Context, spec machine.Spec, options client.ContainerCreateOptions) (machine.Observed, error) {
	var taken error
	for _, name := range namesOf(spec.Identity) {
		options.Name = name
		what := fmt.Sprintf("create container %q", name)
		made, err := d.make(ctx, options)
		switch {
		case err == nil:
			return d.created(ctx, made)
		case errdefs.IsConflict(err):
			// The container may be this machine's, created by another manager at the same moment.
			observed, lookErr := d.get(ctx, spec.Identity)
			if !errors.Is(lookErr, machine.ErrNotFound) {
				return observed, lookErr
			}
			taken = fmt.Errorf("cannot %s: %w: %w", what, machine.ErrConflict, err)
		case errdefs.IsNotFound(err):
			return machine.Observed{}, fmt.Errorf("cannot %s: %w: %w", what, machine.ErrImageNotFound, err)
		default:
			return machine.Observed{}, d.explainSize(ctx, what, spec.Resources, err)
		}
	}
	return machine.Observed{}, taken
}

// make creates the container that the options name, and returns its ID. An engine makes it also for a caller that has gone, so its answer is waited for.
func (d *driver) make(ctx context.Context, options client.ContainerCreateOptions) (string, error) {
	ctx, cancel := machine.Settle(ctx)
	defer cancel()
	made, err := d.api.ContainerCreate(ctx, options)
	if refusesLog(err) {
		options.HostConfig.LogConfig = container.LogConfig{}
		made, err = d.api.ContainerCreate(ctx, options)
	}
	return made.ID, err
}

// refusesLog reports whether the log driver of the engine has no bounds: it sends the output elsewhere.
func refusesLog(err error) bool {
	return errdefs.IsInvalidArgument(err) && strings.Contains(err.Error(), "log opt")
}

// created observes a container that was just created.
func (d *driver) created(ctx context.Context, id string) (machine.Observed, error) {
	observed, err := d.inspect(ctx, id)
	if errors.Is(err, errGone) {
		err = fmt.Errorf("cannot inspect new container %.12q, which somebody removed: %w", id, machine.ErrNotFound)
	}
	return observed, err
}

// explainSize explains an error that may be due to the size. The engine has the same error type for a size that no host has and for one
// that this host does not have.
func (d *driver) explainSize(ctx context.Context, what string, size machine.Resources, err error) error {
	if !errdefs.IsInvalidArgument(err) {
		return explain(ctx, what, err)
	}
	info, infoErr := d.Info(ctx)
	if infoErr == nil && size.MilliCPU > info.Capacity.MilliCPU {
		return fmt.Errorf("cannot %s: %w: %w", what, machine.ErrNoCapacity, err)
	}
	return explain(ctx, what, err)
}
