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
)

// remove removes a container that is off, with its anonymous volumes, and waits until it is gone.
func (d *driver) remove(ctx context.Context, id string) error {
	what := fmt.Sprintf("remove container %.12q", id)
	_, err := d.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{RemoveVolumes: true})
	if errdefs.IsConflict(err) {
		err = d.gone(ctx, id, err)
	}
	if errdefs.IsNotFound(err) {
		return nil
	}
	return explain(ctx, what, err)
}

// gone waits until a container that is already being removed is gone. Otherwise somebody has started it again, and it returns the refusal.
func (d *driver) gone(ctx context.Context, id string, refusal error) error {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	if state := result.Container.State; state == nil || state.Status != container.StateRemoving {
		return refusal
	}
	waited := d.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	select {
	case ended := <-waited.Result:
		if ended.Error != nil { // it is still there
			return errors.New(ended.Error.Message)
		}
		return nil
	case err := <-waited.Error:
		return err
	}
}
