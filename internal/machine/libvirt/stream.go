// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package libvirt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/digitalocean/go-libvirt"

	"github.com/windlass-operator/windlass/internal/machine"
)

// The patience with a part of a volume, which takes milliseconds. libvirt sometimes does not send the end of a download, and sometimes sends it
// before the data: about once in 6000 times on a busy machine. It sends everything when it is asked once more.
const (
	partPatience = 10 * time.Second
	partTries    = 3
)

// readHeader reads the beginning of a volume.
func (e endpoint) readHeader(ctx context.Context, vol libvirt.StorageVol) ([]byte, error) {
	return e.readPart(ctx, vol, 0, maxHeader)
}

// readPart reads a part of a volume. It is shorter than the length only if the volume ends before.
func (e endpoint) readPart(ctx context.Context, vol libvirt.StorageVol, offset, length int64) ([]byte, error) {
	var longest []byte
	answered := false
	for range partTries {
		limited, cancel := context.WithTimeout(ctx, partPatience)
		part, err := e.download(limited, vol, offset, length)
		cancel()
		switch {
		case err == nil && int64(len(part)) >= length:
			return part, nil
		case err == nil && len(part) >= len(longest):
			longest, answered = part, true
		case err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)):
			return nil, err
		}
	}
	if !answered {
		return nil, fmt.Errorf("%w: libvirt has not sent it within %s, %d times", machine.ErrUnreachable, partPatience, partTries)
	}
	return longest, nil
}

// download reads a part of a volume, on a connection of its own.
func (e endpoint) download(ctx context.Context, vol libvirt.StorageVol, offset, length int64) ([]byte, error) {
	s, err := e.dial(ctx, func(conn net.Conn) net.Conn { return &streamConn{Conn: conn, procedure: procedureDownload} })
	if err != nil {
		return nil, err
	}
	defer s.close()
	// The buffer is the call's until it has ended, which may be after this function.
	return ask(ctx, s, func(api *libvirt.Libvirt) ([]byte, error) {
		var head bytes.Buffer
		err := api.StorageVolDownload(vol, &head, unsigned64(offset), unsigned64(length), 0)
		return head.Bytes(), err
	})
}

// What a message of libvirt's protocol begins with: its length, program, version, procedure, type, serial and status, as numbers of four bytes.
const (
	messageHead       = 28
	messageProcedure  = 12
	messageType       = 16
	messageStatus     = 24
	procedureDownload = 209
	typeReply         = 1
	typeStream        = 3
	statusOK          = 0
	statusError       = 1
	statusContinue    = 2
	// maxMessage is more than libvirt ever sends in one message.
	maxMessage = 64 << 20
)

// streamConn is a connection for one stream, which the procedure opens. libvirt may send more than one message after the last data of a stream, and
// the library takes one: the next one would block it forever. So everything after the end of the stream is dropped here.
type streamConn struct {
	net.Conn

	procedure uint32
	// opened is closed when libvirt has opened the stream. It may be nil.
	opened  chan struct{}
	message bytes.Buffer
	ended   bool
}

// Read implements net.Conn. The library reads from one goroutine.
func (c *streamConn) Read(b []byte) (int, error) {
	for c.message.Len() == 0 {
		if err := c.readMessage(); err != nil {
			return 0, err
		}
	}
	return c.message.Read(b)
}

// readMessage reads the next message, and drops it if the stream has ended.
func (c *streamConn) readMessage() error {
	head := make([]byte, messageHead)
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return err
	}
	length := int64(binary.BigEndian.Uint32(head))
	if length < messageHead || length > maxMessage {
		return fmt.Errorf("%w: libvirt sent a message of %d bytes", machine.ErrUnreachable, length)
	}
	c.message.Write(head)
	if _, err := io.CopyN(&c.message, c.Conn, length-messageHead); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(head[messageProcedure:]) != c.procedure {
		return nil
	}
	if c.ended {
		c.message.Reset()
	}
	// The stream ends with an error, or with a message of the stream that has no data or does not announce more.
	status, kind := binary.BigEndian.Uint32(head[messageStatus:]), binary.BigEndian.Uint32(head[messageType:])
	if kind == typeReply && status == statusOK && c.opened != nil {
		close(c.opened) // there is one reply
		c.opened = nil
	}
	stream := kind == typeStream
	c.ended = c.ended || status == statusError || stream && (length == messageHead || status != statusContinue)
	return nil
}
