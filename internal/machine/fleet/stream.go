// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/windlass-operator/windlass/internal/machine"
)

// maxReaders is how many streams a host has open at a time. Each one is a connection, and a process where a host is reached through SSH.
const maxReaders = 64

// stream is one that is open. Closing it frees its slot.
type stream struct {
	io.ReadCloser

	end func()
}

// Close implements io.Closer.
func (s *stream) Close() error {
	defer s.end()
	return s.ReadCloser.Close()
}

// console is one that is open. Closing it frees its slot.
type console struct {
	machine.Console

	end func()
}

// Close implements io.Closer.
func (c *console) Close() error {
	defer c.end()
	return c.Console.Close()
}

// open opens a stream that lasts until ctx ends or it is closed, which its closer tells with end. Only the opening is bounded.
func open[T io.Closer](
	ctx context.Context, g guard, name string, do func(context.Context, machine.Driver) (T, error),
) (opened T, end func(), err error) {
	var none T
	if err := g.health().Err; err != nil {
		return none, nil, err
	}
	select {
	case g.readers <- struct{}{}:
	default:
		return none, nil, fmt.Errorf("cannot open %s on host %q: %w: %d streams are open", name, g.host.Name, machine.ErrBusy, maxReaders)
	}
	lasting, cancel := context.WithCancel(ctx)
	end = sync.OnceFunc(func() {
		cancel()
		<-g.readers
	})
	limit := time.AfterFunc(g.options.Limits.Call, cancel)
	begin := g.options.Clock.Now()
	opened, err = do(lasting, g.current())
	isOpen := err == nil
	if inTime := limit.Stop(); !inTime && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("%w: no answer to %s within %s: %w", machine.ErrUnreachable, name, g.options.Limits.Call, context.DeadlineExceeded))
	}
	g.options.Measure(g.host.Name, name, g.options.Clock.Since(begin), err)
	if err != nil {
		if isOpen {
			_ = opened.Close() // whose end does not matter any more
		}
		end()
		if errors.Is(err, machine.ErrUnreachable) {
			g.suspect()
		}
		return none, nil, err
	}
	return opened, end, nil
}
