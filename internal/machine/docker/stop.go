// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/go-logr/logr"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The signals that stop a container. An image can replace the first one.
const (
	signalTerminate = "SIGTERM"
	signalKill      = "SIGKILL"
)

// stop stops a container and waits until it is off. Somebody may have started it again by then.
func (d *driver) stop(ctx context.Context, c container.Summary, how machine.PowerOff) error {
	switch c.State {
	case container.StateCreated, container.StateExited, container.StateDead, container.StateRemoving:
		return nil
	case container.StatePaused:
		// A frozen process receives no signals, not even SIGKILL. What consoles have left ends with the container.
		if err := d.unpause(ctx, c.ID); err != nil {
			return err
		}
	default:
	}
	if how.Mode == machine.Hard {
		return d.signal(ctx, c.ID, signalKill, 0)
	}
	terminate, err := d.stopSignal(ctx, c.ID)
	if err != nil {
		return err
	}
	// Without a grace, the container is signaled and checked once.
	err = d.signal(ctx, c.ID, terminate, max(how.Grace, time.Millisecond))
	// Nothing checks the signal that an image names. If the engine does not know it, the engine sends the container no signal but SIGKILL.
	if (errors.Is(err, machine.ErrBusy) || errors.Is(err, machine.ErrInvalid)) && how.Mode == machine.TrySoft {
		return d.signal(ctx, c.ID, signalKill, 0)
	}
	return err
}

// stopSignal returns the signal by which the image wants to be stopped.
func (d *driver) stopSignal(ctx context.Context, id string) (string, error) {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return "", explain(ctx, "inspect a container", err)
	}
	if config := result.Container.Config; config != nil {
		return cmp.Or(config.StopSignal, signalTerminate), nil
	}
	return signalTerminate, nil
}

// signal sends a signal and waits until the run of the container that it was sent to has ended. ErrBusy if it goes on after the grace; a grace of 0
// is unlimited.
func (d *driver) signal(ctx context.Context, id, signal string, grace time.Duration) error {
	what := fmt.Sprintf("stop container %.12q", id)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	// The wait begins before the signal. Afterwards somebody may have started the container again, and the end of that run does not come.
	ended := d.ending(waiting, id)
	_, err := d.api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: signal})
	if err != nil && !errdefs.IsConflict(err) { // a conflict says that it is off
		if d.isOff(ctx, id) {
			return nil // the signal has arrived, and only the answer was lost
		}
		return explain(ctx, what, err)
	}
	var expired <-chan time.Time
	if grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case err := <-ended:
		return explain(ctx, what, err)
	case <-expired:
		return fmt.Errorf("cannot %s: %w: still running %[4]s after %[3]s", what, machine.ErrBusy, signal, grace)
	}
}

// ending begins to wait until a container does not run, and returns when the engine knows of that. The channel gets nil then, or why it is not known.
// The caller ends the context, and with it what waits.
func (d *driver) ending(ctx context.Context, id string) <-chan error {
	waited := d.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
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

// isOff reports whether a container is known to be there and not to run.
func (d *driver) isOff(ctx context.Context, id string) bool {
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	return err == nil && result.Container.State != nil && !result.Container.State.Running
}

// resume resumes a paused container, and ends what consoles have left in it. If that fails, the container runs all the same, and what is left is
// remembered.
func (d *driver) resume(ctx context.Context, id string) error {
	if err := d.unpause(ctx, id); err != nil {
		return err
	}
	if err := d.sweepLeft(ctx, id); err != nil {
		logr.FromContextOrDiscard(ctx).Info("Cannot end what a console has left in a container", "container", id, "cause", err.Error())
	}
	return nil
}

func (d *driver) unpause(ctx context.Context, id string) error {
	_, err := d.api.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
	if errdefs.IsConflict(err) { // it is no longer paused
		return nil
	}
	return explain(ctx, fmt.Sprintf("resume container %.12q", id), err)
}
