// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/coder/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/gateway/relay"
)

// Channels of Kubernetes' protocol: the first byte of each message.
const (
	channelStdin  = 0
	channelStdout = 1
	channelResult = 3
	channelSize   = 4
	// channelClose says that a channel gets nothing more. A console stays open without its typist.
	channelClose = 255
)

const (
	// maxPrint is how much a message has of what a machine prints.
	maxPrint = 32 << 10
	// maxSizeMessage bounds the size of a terminal, in bytes of JSON.
	maxSizeMessage = 256
)

// terminal speaks Kubernetes' protocol for the console of a machine: it is the relay.Server of one.
type terminal struct {
	console Console
	// broke is told why a console ended that was neither closed nor at its end.
	broke func(cause error)

	message [1 + maxPrint]byte
	// ended is why the console prints nothing more, and told says that the caller has the result.
	ended error
	told  bool
	// left is true when the caller has left, so that nobody is told anything.
	left atomic.Bool
}

// Reader implements relay.Server. One goroutine calls it.
func (t *terminal) Reader(context.Context) (websocket.MessageType, io.Reader, error) {
	for t.ended == nil {
		var n int
		n, t.ended = t.console.Read(t.message[1:])
		if n > 0 {
			t.message[0] = channelStdout
			return websocket.MessageBinary, bytes.NewReader(t.message[:1+n]), nil
		}
	}
	if !t.told && !t.left.Load() {
		t.told = true
		return websocket.MessageBinary, bytes.NewReader(t.result()), nil
	}
	if errors.Is(t.ended, io.EOF) {
		return 0, nil, websocket.CloseError{Code: websocket.StatusNormalClosure}
	}
	return 0, nil, lostConsole()
}

// result is the last message of a console.
func (t *terminal) result() []byte {
	status := metav1.Status{Status: metav1.StatusSuccess}
	if !errors.Is(t.ended, io.EOF) {
		t.broke(t.ended) // whose words can name addresses
		status = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: lostConsole().Reason}
	}
	raw, err := json.Marshal(status)
	if err != nil {
		panic(err) // no such Status exists
	}
	return append([]byte{channelResult}, raw...)
}

// Write implements relay.Server.
func (t *terminal) Write(ctx context.Context, _ websocket.MessageType, message []byte) error {
	if len(message) == 0 { // by which some clients keep a connection alive
		return nil
	}
	content := message[1:]
	switch message[0] {
	case channelStdin:
		if _, err := t.console.Write(content); err != nil {
			return lostConsole()
		}
	case channelSize:
		var size struct {
			Width  uint16 `json:"Width"`
			Height uint16 `json:"Height"`
		}
		if len(content) > maxSizeMessage || json.Unmarshal(content, &size) != nil {
			return &relay.End{Code: websocket.StatusUnsupportedData, Reason: `a message of channel 4 must be as {"Width":80,"Height":24}`}
		}
		// A terminal of the wrong size is better than none.
		_ = t.console.Resize(ctx, size.Width, size.Height)
	case channelClose:
	default:
		return &relay.End{Code: websocket.StatusUnsupportedData, Reason: fmt.Sprintf("a console takes nothing on channel %d", message[0])}
	}
	return nil
}

// SetReadLimit implements relay.Server. What a machine prints comes in messages of maxPrint at most.
func (*terminal) SetReadLimit(int64) {}

// CloseNow implements relay.Server.
func (t *terminal) CloseNow() error {
	t.left.Store(true)
	return t.console.Close()
}

func lostConsole() *relay.End {
	return &relay.End{Code: websocket.StatusInternalError, Reason: "the connection to the console broke"}
}
