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

// maxReconnects bounds how often a start makes the network of its container again. Another manager can remove it between two attempts,
// with each of its machines of the namespace once.
const maxReconnects = 3

// startConnected starts a container that is off. If its network is gone, it makes the network first.
func (d *driver) startConnected(ctx context.Context, found []container.Summary) error {
	for range maxReconnects {
		failure := d.start(ctx, found)
		again, err := d.reconnect(ctx, found[0], failure)
		if !again {
			return errors.Join(failure, err)
		}
	}
	return d.start(ctx, found)
}

// start starts a container that is off, the first of those that were found.
func (d *driver) start(ctx context.Context, found []container.Summary) error {
	if err := d.settle(ctx, found); err != nil {
		return err
	}
	id := found[0].ID
	_, err := d.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
	if err != nil && halfStarted(id, err) {
		replacement, replaceErr := d.renew(ctx, found[:1])
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

// renew replaces a container that has never run, hence has no data, with one that has another ID and is otherwise the same. It
// returns the new ID, empty if the container has run.
func (d *driver) renew(ctx context.Context, found []container.Summary) (string, error) {
	id := found[0].ID
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return "", explain(ctx, "inspect a container", err)
	}
	old := result.Container
	if old.State == nil || old.State.Status != container.StateCreated || !moment(old.State.StartedAt).IsZero() ||
		old.Config == nil || old.HostConfig == nil {
		return "", nil
	}
	if old.Config.Hostname == id[:min(12, len(id))] {
		old.Config.Hostname = "" // the engine's own choice
	}
	old.Config.Labels[labelIncarnation] = rand.Text()
	options := client.ContainerCreateOptions{Config: old.Config, HostConfig: old.HostConfig}
	return d.swap(ctx, found, options, resourcesOf(old.HostConfig.Resources), machine.PowerOff{Mode: machine.Hard})
}
