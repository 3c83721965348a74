// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/windlass-operator/windlass/internal/machine"
)

// maxPrinted is how many lines a printout keeps.
const maxPrinted = 200

// printout is the last lines that were written for a machine.
type printout struct {
	mu    sync.Mutex
	lines []string
	// dropped is how many lines came before.
	dropped int
	// on says that more can come, because the machine is on.
	on bool
	// changed is closed, and replaced, with every change.
	changed chan struct{}
}

func newPrintout() *printout { return &printout{changed: make(chan struct{})} }

// add adds a line, and says whether more can come.
func (p *printout) add(on bool, format string, values ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines, p.on = append(p.lines, fmt.Sprintf(format, values...)+"\n"), on
	if extra := len(p.lines) - maxPrinted; extra > 0 {
		p.lines, p.dropped = p.lines[extra:], p.dropped+extra
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// read returns a reader of the last lines.
func (p *printout) read(ctx context.Context, options machine.OutputOptions) *reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.dropped
	if tail := options.Tail; tail >= 0 && tail < len(p.lines) {
		next += len(p.lines) - tail
	}
	ctx, cancel := context.WithCancel(ctx)
	return &reader{ctx: ctx, cancel: cancel, from: p, next: next, follow: options.Follow}
}

// reader reads a printout.
type reader struct {
	ctx    context.Context //nolint:containedctx // because an io.Reader has no other way to end with its call
	cancel context.CancelFunc
	from   *printout
	// next is the number of the next line.
	next   int
	follow bool
	// rest is what was taken from the printout and not read yet.
	rest string
}

// Read implements io.Reader.
func (r *reader) Read(into []byte) (int, error) {
	for r.rest == "" {
		if err := r.take(); err != nil {
			return 0, err
		}
	}
	n := copy(into, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// take takes what is new. If there is nothing new yet, it waits.
func (r *reader) take() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	p := r.from
	p.mu.Lock()
	first := max(r.next-p.dropped, 0)
	r.rest, r.next = strings.Join(p.lines[first:], ""), p.dropped+len(p.lines)
	more, changed := r.follow && p.on, p.changed
	p.mu.Unlock()
	switch {
	case r.rest != "":
	case !more:
		return io.EOF
	default:
		select {
		case <-changed:
		case <-r.ctx.Done():
		}
	}
	return nil
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.cancel()
	return nil
}
