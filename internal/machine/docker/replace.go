// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// start starts a container that is off.
func (d *driver) start(ctx context.Context, id string) error {
	_, err := d.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
	if err != nil && halfStarted(id, err) {
		replacement, replaceErr := d.replace(ctx, id)
		if replaceErr != nil {
			return errors.Join(explain(ctx, fmt.Sprintf("start container %.12q", id), err), replaceErr)
		}
		if replacement != "" {
			id = replacement
			_, err = d.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
		}
	}
	return explain(ctx, fmt.Sprintf("start container %.12q", id), err)
}

// halfStarted reports whether the engine cannot start the container because an earlier engine was killed while it did: there is
// a task with the ID, or containerd's record of it, of which this engine knows nothing. Engines have no error type for it.
func halfStarted(id string, err error) bool {
	text := err.Error()
	if strings.Contains(text, "id already in use") { // the record; the message names no ID, and is only about the container that starts
		return true
	}
	return strings.Contains(text, id) && (strings.Contains(text, "already exists") || strings.Contains(text, "file exists") ||
		strings.Contains(text, "id exists"))
}

// replace replaces a container that has never run, hence has no data, with one that has another ID and is otherwise the same. It
// returns the new ID, empty if the container has run. If it fails after the removal, there is no machine, and the caller creates it.
func (d *driver) replace(ctx context.Context, id string) (string, error) {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return "", explain(ctx, "inspect a container", err)
	}
	old := result.Container
	if old.State == nil || old.State.Status != container.StateCreated || !moment(old.State.StartedAt).IsZero() ||
		old.Config == nil || old.HostConfig == nil {
		return "", nil
	}
	name := strings.TrimPrefix(old.Name, "/")
	if old.Config.Hostname == id[:min(12, len(id))] {
		old.Config.Hostname = "" // the engine's own choice
	}
	old.Config.Labels[labelIncarnation] = rand.Text()
	if err := d.remove(ctx, id); err != nil {
		return "", err
	}
	created, err := d.api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name: name, Config: old.Config, HostConfig: old.HostConfig,
	})
	if err != nil {
		return "", fmt.Errorf("cannot replace container %q: %w: %w", name, machine.ErrNotFound, err)
	}
	return created.ID, nil
}
