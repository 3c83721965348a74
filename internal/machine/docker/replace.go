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

// Replace implements machine.Driver.
func (d *driver) Replace(ctx context.Context, spec machine.Spec, how machine.PowerOff) (machine.Observed, error) {
	options, err := d.connected(ctx, spec)
	if err != nil {
		return machine.Observed{}, fmt.Errorf("cannot replace the container of machine %q: %w", spec.UID, err)
	}
	found, err := d.find(ctx, spec.Identity)
	if err != nil {
		return machine.Observed{}, err
	}
	if len(found) == 0 {
		return d.create(ctx, spec, options)
	}
	if found[0].Labels[labelHash] == spec.Hash {
		return d.created(ctx, found[0].ID)
	}
	id, err := d.swap(ctx, found, options, spec.Resources, how)
	if err != nil {
		return machine.Observed{}, err
	}
	return d.created(ctx, id)
}

// swap makes a container in the place of the machine's, the first of those that were found, and returns its ID. The new container has
// a temporary name until the old one is gone, and the old one goes only when the new one exists. Whatever ends this in between, a
// later Replace, Start or Delete goes on from there.
func (d *driver) swap(
	ctx context.Context, found []container.Summary, options client.ContainerCreateOptions, size machine.Resources, how machine.PowerOff,
) (string, error) {
	if err := d.discard(ctx, found); err != nil {
		return "", err
	}
	old := found[0]
	id := identityOf(old.Labels)
	options.Name = temporaryName(id)
	options.Config.Labels[labelReplaces] = old.ID
	what := fmt.Sprintf("replace container %.12q", old.ID)
	made, err := d.make(ctx, options)
	switch {
	case errdefs.IsConflict(err):
		return "", fmt.Errorf("cannot %s: %w: %w", what, machine.ErrConflict, err)
	case errdefs.IsNotFound(err):
		return "", fmt.Errorf("cannot %s: %w: %w", what, machine.ErrImageNotFound, err)
	case err != nil:
		return "", d.explainSize(ctx, what, size, err)
	}
	if err := d.stop(ctx, old, how); err != nil && !errors.Is(err, machine.ErrNotFound) {
		return "", errors.Join(err, d.remove(ctx, made))
	}
	if err := d.remove(ctx, old.ID); err != nil {
		return "", err
	}
	return made, d.rename(ctx, made, id)
}

// discard removes what was made beside the machine and has never run: by an earlier swap, or by another manager at the same moment.
func (d *driver) discard(ctx context.Context, found []container.Summary) error {
	for _, c := range found[1:] {
		if c.Labels[labelReplaces] != found[0].ID && !isTemporary(c) && unused(c) == 0 {
			continue
		}
		if err := d.remove(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the machine's container a name of its own if a swap was ended before it did, and removes what a swap has left.
func (d *driver) settle(ctx context.Context, found []container.Summary) error {
	if err := d.discard(ctx, found); err != nil {
		return err
	}
	id := identityOf(found[0].Labels)
	if !isTemporary(found[0]) {
		return nil
	}
	return d.rename(ctx, found[0].ID, id)
}

// rename gives the container the first of its machine's names that is free.
func (d *driver) rename(ctx context.Context, from string, id machine.Identity) error {
	var taken error
	for _, name := range namesOf(id) {
		what := fmt.Sprintf("rename container %.12q to %q", from, name)
		_, err := d.api.ContainerRename(ctx, from, client.ContainerRenameOptions{NewName: name})
		if !errdefs.IsConflict(err) {
			return explain(ctx, what, err)
		}
		taken = fmt.Errorf("cannot %s: %w: %w", what, machine.ErrConflict, err)
	}
	return taken
}
