// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	procedureOpenConsole = 201
	// maxTyped is how much of what is typed is in one message.
	maxTyped = 16 << 10
)

// Console implements machine.Driver: the serial console of the guest, on a connection of its own. libvirt has one for each guest, and frees it when
// the connection closes. Nobody is thrown out.
func (d *driver) Console(ctx context.Context, id machine.Identity) (machine.Console, error) {
	f, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case d.endpoint.hypervisor == hypervisorTest || len(f.Devices.Serial) == 0:
		return nil, fmt.Errorf("cannot open the console of machine %q: %w: its domain has none", id.UID, machine.ErrUnsupported)
	case f.state != libvirt.DomainRunning && f.state != libvirt.DomainBlocked:
		return nil, fmt.Errorf("cannot open the console of machine %q: %w", id.UID, machine.ErrOff)
	}
	typing, opened := &consoleConn{}, make(chan struct{})
	s, err := d.endpoint.dial(ctx, func(conn net.Conn) net.Conn {
		typing.streamConn = streamConn{Conn: conn, procedure: procedureOpenConsole, opened: opened}
		return typing
	})
	if err != nil {
		return nil, explain(ctx, "open a console", err)
	}
	out := &console{session: s, typing: typing}
	out.reading, out.printing = io.Pipe()
	out.forget = context.AfterFunc(ctx, out.leave)
	ended := make(chan error, 1)
	go func() { ended <- out.print(f.dom) }()
	select {
	case <-opened:
		return out, nil
	case err = <-ended:
	}
	out.leave()
	if is(err, libvirt.ErrOperationFailed) { // what libvirt says of a console that is open
		err = fmt.Errorf("%w: %w", machine.ErrConsoleHeld, err)
	}
	return nil, explain(ctx, fmt.Sprintf("open the console of domain %q", f.Name), err)
}

// console is the serial console of a guest.
type console struct {
	session  *session
	typing   *consoleConn
	reading  *io.PipeReader
	printing *io.PipeWriter
	// forget stops waiting for the end of the context.
	forget func() bool
}

// print passes on what the guest prints until the console ends, and returns why. A console that libvirt ends is that of a guest that is off:
// what libvirt says then is that its device is gone.
func (c *console) print(dom libvirt.Domain) error {
	err := c.session.api.DomainOpenConsole(dom, nil, c.printing, uint32(libvirt.DomainConsoleSafe))
	end := err
	if _, said := errors.AsType[libvirt.Error](err); said || err == nil {
		end = io.EOF
	}
	_ = c.printing.CloseWithError(end) // which always returns nil
	return err
}

// Read implements io.Reader.
func (c *console) Read(into []byte) (int, error) { return c.reading.Read(into) }

// Write implements io.Writer.
func (c *console) Write(typed []byte) (int, error) { return c.typing.send(typed) }

// Resize implements machine.Console. A serial console has no size.
func (*console) Resize(context.Context, uint16, uint16) error { return nil }

// Close implements io.Closer.
func (c *console) Close() error {
	c.forget()
	c.leave()
	return nil
}

// leave closes the connection. What waits in it for a reader goes nowhere.
func (c *console) leave() {
	_ = c.reading.CloseWithError(net.ErrClosed) // which always returns nil
	c.session.close()
}

// consoleConn is a connection for one console. The library opens this stream for reading only, so what is typed is put on the connection here, as
// messages of the stream that the library has opened: their head is that of its call, with another length, type and status.
type consoleConn struct {
	streamConn

	mu sync.Mutex
	// head is that of the call.
	head []byte
}

// Write implements net.Conn. The library writes each message at once.
func (c *consoleConn) Write(message []byte) (int, error) {
	if len(message) >= messageHead && binary.BigEndian.Uint32(message[messageProcedure:]) == procedureOpenConsole {
		c.mu.Lock()
		c.head = slices.Clone(message[:messageHead])
		c.mu.Unlock()
	}
	return c.Conn.Write(message)
}

// send types. It waits for as long as libvirt takes nothing, or until the connection is closed.
func (c *consoleConn) send(typed []byte) (sent int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(typed) > 0 {
		part := typed[:min(len(typed), maxTyped)]
		message := slices.Concat(c.head, part)
		binary.BigEndian.PutUint32(message, uint32(len(message))) //nolint:gosec // because it is maxTyped at most
		binary.BigEndian.PutUint32(message[messageType:], typeStream)
		binary.BigEndian.PutUint32(message[messageStatus:], statusContinue)
		if _, err := c.Conn.Write(message); err != nil {
			return sent, err
		}
		sent, typed = sent+len(part), typed[len(part):]
	}
	return sent, nil
}
