// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/windlass-operator/windlass/internal/machine"
)

// Output implements machine.Driver: both streams of the container, as its log driver keeps them. A log driver that sends them
// elsewhere cannot be read.
func (d *driver) Output(ctx context.Context, id machine.Identity, options machine.OutputOptions) (io.ReadCloser, error) {
	found, err := d.only(ctx, id)
	if err != nil {
		return nil, err
	}
	inspected, err := d.api.ContainerInspect(ctx, found.ID, client.ContainerInspectOptions{})
	if err != nil {
		return nil, explain(ctx, "inspect a container", err)
	}
	wanted := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: options.Follow, Tail: "all"}
	if options.Tail >= 0 {
		wanted.Tail = strconv.Itoa(options.Tail)
	}
	log, err := d.api.ContainerLogs(ctx, found.ID, wanted)
	if err != nil {
		return nil, explain(ctx, "read the log of a container", err)
	}
	if c := inspected.Container.Config; c != nil && c.Tty {
		return log, nil
	}
	return &output{ReadCloser: log}, nil
}

// output merges the streams of a container without a terminal. The engine sends them in frames, with the stream and the length in front of
// each. Unlike the engine's own reader, it holds no frame in memory.
type output struct {
	io.ReadCloser

	// left is how much of the current frame has not been read.
	left int64
}

// frameHead is the size of what is in front of a frame.
const frameHead = 8

// Read implements io.Reader.
func (o *output) Read(into []byte) (int, error) {
	for o.left == 0 {
		if err := o.next(); err != nil {
			return 0, err
		}
	}
	n, err := o.ReadCloser.Read(into[:min(int64(len(into)), o.left)])
	o.left -= int64(n)
	if errors.Is(err, io.EOF) && o.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads what is in front of the next frame.
func (o *output) next() error {
	var head [frameHead]byte
	if _, err := io.ReadFull(o.ReadCloser, head[:]); err != nil {
		return err
	}
	o.left = int64(binary.BigEndian.Uint32(head[4:]))
	if stream := stdcopy.StdType(head[0]); stream > stdcopy.Stderr {
		return fmt.Errorf("cannot read the log of a container: the engine reports an error in it, or sends the unknown stream %d", stream)
	}
	return nil
}
