// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// shell is the program of a console, and the only one of the image that a console needs.
const shell = "/bin/sh"

// The exit codes of a program that cannot be started: one that is no program, and one that does not exist.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// login is what a console runs. The first line says that the shell is there; everything after it is the user's.
const login = `echo "$` + markVariable + `"; exec ` + shell

// Console implements machine.Driver: a shell in the container, beside its program, in a terminal of its own. Containers are made without an open
// stdin, so nobody can type into the program itself.
func (d *driver) Console(ctx context.Context, id machine.Identity) (machine.Console, error) {
	found, err := d.only(ctx, id)
	if err != nil {
		return nil, err
	}
	if found.State != container.StateRunning {
		return nil, fmt.Errorf("cannot open a console of machine %q: %w: its container is %s", id.UID, machine.ErrOff, found.State)
	}
	mark := rand.Text()
	made, err := d.api.ExecCreate(ctx, found.ID, client.ExecCreateOptions{
		TTY: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Env: []string{markVariable + "=" + mark}, Cmd: []string{shell, "-c", login},
	})
	if errdefs.IsConflict(err) { // it has stopped since
		return nil, fmt.Errorf("cannot open a console of machine %q: %w: %w", id.UID, machine.ErrOff, err)
	}
	if err != nil {
		return nil, explain(ctx, "prepare a console", err)
	}
	attached, err := d.api.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: true})
	if err != nil {
		return nil, explain(ctx, "open a console", err)
	}
	// The context can have ended by now, so Close must have all that it needs before it is called.
	until, forget := context.WithCancel(ctx)
	out := &console{
		ctx: context.WithoutCancel(ctx), driver: d, container: found.ID, exec: made.ID, mark: mark, conn: attached.Conn, said: attached.Reader,
		forget: forget,
	}
	context.AfterFunc(until, func() { _ = out.Close() }) //nolint:contextcheck // because it is for when the context has ended
	if err := out.begin(ctx); err != nil {
		return nil, errors.Join(err, out.Close()) //nolint:contextcheck // because a console is also closed when its context has ended
	}
	return out, nil
}

// console is a shell in a container.
type console struct {
	// ctx is that of the console, and does not end with it.
	ctx             context.Context //nolint:containedctx // because an io.Closer has no other way to get one
	driver          *driver
	container, exec string
	mark            string
	conn            net.Conn
	said            *bufio.Reader
	// forget stops waiting for the end of the context.
	forget context.CancelFunc
	end    sync.Once
}

// begin waits for the first line of the shell. If the engine answers something else, that is the reason why there is no shell. The shell is a program of the
// image and can print anything, so a line that does not fit into the buffer is refused.
func (c *console) begin(ctx context.Context) error {
	line, err := c.said.ReadSlice('\n')
	if err == nil && string(bytes.TrimSpace(line)) == c.mark {
		return nil
	}
	if ctx.Err() != nil {
		return explain(ctx, "open a console", ctx.Err())
	}
	if ended, failure := c.driver.api.ExecInspect(ctx, c.exec, client.ExecInspectOptions{}); failure == nil &&
		(ended.ExitCode == exitNotExecutable || ended.ExitCode == exitNotFound) {
		return fmt.Errorf("cannot open a console: %w: the engine cannot run %s in the container", machine.ErrNoShell, shell)
	}
	return explain(ctx, "open a console", errors.Join(errors.New("the shell did not begin as expected"), err))
}

// Read implements io.Reader.
func (c *console) Read(into []byte) (int, error) { return c.said.Read(into) }

// Write implements io.Writer.
func (c *console) Write(typed []byte) (int, error) { return c.conn.Write(typed) }

// Resize implements machine.Console.
func (c *console) Resize(ctx context.Context, width, height uint16) error {
	_, err := c.driver.api.ExecResize(ctx, c.exec, client.ExecResizeOptions{Width: uint(width), Height: uint(height)})
	return explain(ctx, "resize a console", err)
}

// Close implements io.Closer. An engine leaves a process running whose client has gone, so it is ended here.
func (c *console) Close() error {
	var err error
	c.end.Do(func() {
		c.forget()
		ctx, cancel := context.WithTimeout(c.ctx, sweepPatience)
		defer cancel()
		err = errors.Join(c.conn.Close(), c.driver.sweep(ctx, c.container, c.mark))
	})
	return err
}
