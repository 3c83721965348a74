// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
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

// gone waits for a container that is already being removed. Otherwise somebody has started it again, and it returns the refusal.
func (d *driver) gone(ctx context.Context, id string, refusal error) error {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	if state := result.Container.State; state == nil || state.Status != container.StateRemoving {
		return refusal
	}
	return d.wait(ctx, id, container.WaitConditionRemoved)
}

// wait waits until the engine says that the condition holds.
func (d *driver) wait(ctx context.Context, id string, condition container.WaitCondition) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return <-d.await(ctx, id, condition)
}

// await begins to wait for a condition, and returns when the engine knows of that. The channel gets nil once the condition holds, or why it is not
// known. The caller ends the context, and with it what waits.
func (d *driver) await(ctx context.Context, id string, condition container.WaitCondition) <-chan error {
	waited := d.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: condition})
	answer := make(chan error, 1)
	go func() {
		select {
		case <-waited.Result:
			answer <- nil
		case err := <-waited.Error:
			answer <- err
		}
	}()
	return answer
}
