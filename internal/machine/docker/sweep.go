// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

const (
	// markVariable is in the environment of everything that is started in a console, with a value of its own for each.
	markVariable = "WINDLASS_CONSOLE"
	// sweepPatience is how long it may take to end that.
	sweepPatience = 10 * time.Second
)

// sweeper ends every process whose environment has the word in $1, with nothing but what the shell itself can do. A process can start another one
// while it looks, so it looks several times.
const sweeper = `look() {
	for process in /proc/[0-9]*; do
		[ -r "$process/environ" ] || continue
		while IFS= read -r line || [ -n "$line" ]; do
			case $line in *"$1"*) kill -KILL "${process#/proc/}" ;; esac
		done <"$process/environ"
	done
}
{ look "$1"; look "$1"; look "$1"; } 2>/dev/null`

// leftovers are the marks of consoles that ended while their container was paused, by container. They are remembered as long as this process runs,
// as consoles are.
type leftovers struct {
	mu    sync.Mutex
	marks map[string][]string
}

func newLeftovers() *leftovers { return &leftovers{marks: map[string][]string{}} }

func (l *leftovers) add(id, mark string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marks[id] = append(l.marks[id], mark)
}

// take returns the marks of a container, and forgets them.
func (l *leftovers) take(id string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.marks[id]
	delete(l.marks, id)
	return taken
}

// sweep ends everything that was started in the console with the mark, and waits until that is done. If the container does not run, nothing is left.
// Processes of a paused container cannot end, so the driver sweeps again when it resumes the container.
func (d *driver) sweep(ctx context.Context, id, mark string) error {
	if d.endMarked(ctx, id, mark) == nil {
		return nil
	}
	d.left.add(id, mark) // before the look, so that a resume after it finds the mark
	result, err := d.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err == nil && result.Container.State != nil && result.Container.State.Paused {
		return nil
	}
	return d.sweepLeft(ctx, id)
}

// sweepLeft ends what consoles have left in a container that was paused when they ended. What it could not end, it remembers.
func (d *driver) sweepLeft(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, sweepPatience)
	defer cancel()
	var errs []error
	for _, mark := range d.left.take(id) {
		err := d.endMarked(ctx, id, mark)
		if errdefs.IsConflict(err) { // it does not run
			err = nil
		}
		if err != nil {
			d.left.add(id, mark)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// endMarked ends every process with the mark, and waits until that is done. A conflict says that the container does not run, or is paused.
func (d *driver) endMarked(ctx context.Context, id, mark string) error {
	made, err := d.api.ExecCreate(ctx, id, client.ExecCreateOptions{
		AttachStdout: true, AttachStderr: true, Cmd: []string{shell, "-c", sweeper, shell, markVariable + "=" + mark},
	})
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return explain(ctx, "end a console", err)
	}
	attached, err := d.api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return explain(ctx, "end a console", err)
	}
	defer attached.Close()
	stop := context.AfterFunc(ctx, attached.Close)
	defer stop()
	_, err = io.Copy(io.Discard, attached.Reader) // it says nothing, and ends
	return explain(ctx, "end a console", err)
}
