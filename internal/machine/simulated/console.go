// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine"
)

const (
	// maxLine is how much of a line that is typed is kept.
	maxLine = 1 << 10
	// maxUnread is how much of what is printed is kept until it is read.
	maxUnread = 64 << 10
)

// Console implements machine.Driver. A simulated machine runs no programs, so the host answers for it: it repeats what is typed, as a terminal
// does, and answers each line with "heard: " and the line. The line "size" is answered with the size of the terminal, and "exit" ends the console.
// As with a serial console, there is one.
func (d *driver) Console(ctx context.Context, id machine.Identity) (machine.Console, error) {
	var out *console
	err := d.do(ctx, CallConsole, id.UID, locked(func(h *Host) error {
		g := h.find(id)
		switch {
		case g == nil:
			return machine.ErrNotFound
		case !g.running():
			return machine.ErrOff
		case g.console != nil && g.console.isOpen():
			return machine.ErrConsoleHeld
		}
		out = newConsole(ctx, g.off)
		g.console = out
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// console is one that is open.
type console struct {
	mu      sync.Mutex
	changed *sync.Cond
	// printed is what was printed and not read yet, maxUnread at most.
	printed []byte
	// ended is why nothing more is printed, nil while the console is open.
	ended error
	// line is what was typed since the last one.
	line          []byte
	width, height uint16
	// leave ends what waits for the end.
	leave context.CancelFunc
}

// newConsole returns a console that ends when the context ends or the machine is off.
func newConsole(ctx context.Context, off <-chan struct{}) *console {
	c := &console{}
	c.changed = sync.NewCond(&c.mu)
	closed, cancel := context.WithCancel(ctx)
	c.leave = cancel
	go func() {
		defer cancel()
		select {
		case <-off:
			c.end(io.EOF)
		case <-closed.Done():
			c.end(closed.Err())
		}
	}()
	return c
}

// end ends the console. Only the first reason counts.
func (c *console) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = cmp.Or(c.ended, why)
	c.changed.Broadcast()
}

func (c *console) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended == nil
}

// Read implements io.Reader.
func (c *console) Read(into []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.printed) == 0 {
		if c.ended != nil {
			return 0, c.ended
		}
		c.changed.Wait()
	}
	n := copy(into, c.printed)
	c.printed = c.printed[n:]
	return n, nil
}

// Write implements io.Writer.
func (c *console) Write(typed []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, key := range typed {
		if c.ended != nil {
			return n, io.ErrClosedPipe
		}
		c.press(key)
	}
	c.changed.Broadcast()
	return len(typed), nil
}

// press types one key. A line that is too long is cut.
func (c *console) press(key byte) {
	if key != '\n' && key != '\r' {
		if len(c.line) < maxLine {
			c.line = append(c.line, key)
		}
		c.print("%c", key)
		return
	}
	line := strings.TrimSpace(string(c.line))
	c.line = c.line[:0]
	c.print("\r\n")
	switch line {
	case "":
	case "exit":
		c.ended = io.EOF
	case "size":
		c.print("%dx%d\r\n", c.width, c.height)
	default:
		c.print("heard: %s\r\n", line)
	}
}

// print prints, as far as there is room: a line to a machine loses what nobody reads.
func (c *console) print(format string, values ...any) {
	text := fmt.Appendf(nil, format, values...)
	c.printed = append(c.printed, text[:min(len(text), maxUnread-len(c.printed))]...)
}

// Resize implements machine.Console.
func (c *console) Resize(_ context.Context, width, height uint16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.width, c.height = width, height
	return nil
}

// Close implements io.Closer.
func (c *console) Close() error {
	c.end(io.ErrClosedPipe)
	c.leave()
	return nil
}
