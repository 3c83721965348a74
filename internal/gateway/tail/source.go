// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package tail

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

const (
	// maxLine bounds what is kept of a line, in bytes.
	maxLine = 64 << 10
	// readAhead is how much of a log is read at once.
	readAhead = 16 << 10
)

// errBroken is what a reader is told of a connection that broke. Its cause can have addresses that are not for them.
var errBroken = errors.New("the connection broke")

// Source is the log of a container.
type Source struct {
	// Key names this log, and no later one of the same container.
	Key string
	// Pod and Container are where it comes from.
	Pod, Container string
	// Open begins to read the log, each line of which begins with its time.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Line is a line of a log, or a notice about one.
type Line struct {
	// Pod and Container are where it comes from; empty for a notice about all of them.
	Pod, Container string
	// Time is when the container wrote the line, as the log says; the zero time if it does not.
	Time time.Time
	// Text of the line, without its end.
	Text []byte
	// Cut is how many bytes of the text are missing, because the line is too long.
	Cut int
	// Notice says what has happened to the log; empty for a line of it.
	Notice string
}

// arrival is a line, or the end of a source: err if it failed.
type arrival struct {
	from *reader
	line *Line
	err  error
}

// notice says how a source has ended; empty for nothing worth a line.
func (a arrival) notice(following bool) string {
	switch {
	case a.err != nil:
		return "cannot be read: " + a.err.Error()
	case following:
		return "has ended"
	default:
		return ""
	}
}

// reader reads a source, one line at a time.
type reader struct {
	Source

	// order is that of the sources, for lines of the same time.
	order int
	// live is true once the source was read to its present end.
	live bool
	// next asks for the next line.
	next chan struct{}
}

// run sends lines until the log or the context ends.
func (r *reader) run(ctx context.Context, to chan<- arrival) {
	log, err := r.Open(ctx)
	if err != nil {
		r.send(ctx, to, arrival{from: r, err: err})
		return
	}
	defer func() { _ = log.Close() }()
	buffered := bufio.NewReaderSize(log, readAhead)
	text := make([]byte, 0, 256)
	for {
		var cut int
		if text, cut, err = readLine(buffered, text[:0]); err != nil && len(text) == 0 {
			break
		}
		if !r.send(ctx, to, arrival{from: r, line: r.lineOf(text, cut)}) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.next:
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		err = errBroken
	}
	r.send(ctx, to, arrival{from: r, err: err})
}

// send passes on what has come, unless the context has ended: reading fails then, which says nothing about the log.
func (r *reader) send(ctx context.Context, to chan<- arrival, a arrival) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case to <- a:
		return true
	}
}

// readLine appends the next line to the text, without its end and at most maxLine bytes of it.
func readLine(from *bufio.Reader, into []byte) (text []byte, cut int, err error) {
	for {
		piece, err := from.ReadSlice('\n')
		end := bytes.TrimSuffix(piece, []byte("\n"))
		kept := end[:min(len(end), maxLine-len(into))]
		into, cut = append(into, kept...), cut+len(end)-len(kept)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return into, cut, err
		}
	}
}

// lineOf takes the time off a line.
func (r *reader) lineOf(text []byte, cut int) *Line {
	out := &Line{Pod: r.Pod, Container: r.Container, Text: text, Cut: cut}
	stamp, rest, _ := bytes.Cut(text, []byte(" "))
	if at, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
		out.Time, out.Text = at, rest
	}
	return out
}

// heads are the next lines of sources, the oldest first. It implements heap.Interface.
type heads []arrival

// Len implements heap.Interface.
func (h *heads) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *heads) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if order := a.line.Time.Compare(b.line.Time); order != 0 {
		return order < 0
	}
	return a.from.order < b.from.order
}

// Swap implements heap.Interface.
func (h *heads) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Push implements heap.Interface.
func (h *heads) Push(x any) {
	if a, ok := x.(arrival); ok {
		*h = append(*h, a)
	}
}

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	last := len(*h) - 1
	out := (*h)[last]
	*h = (*h)[:last]
	return out
}
