// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// frame is what an engine sends of a stream.
func frame(stream byte, length uint32, text string) string {
	head := make([]byte, frameHead)
	head[0] = stream
	binary.BigEndian.PutUint32(head[4:], length)
	return string(head) + text
}

// TestOutputMergesStreams reads frames as engines send them, and as they never should.
func TestOutputMergesStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent, want string
		failure    error
	}{
		"nothing":                             {"", "", nil},
		"both streams in their order":         {frame(1, 4, "out\n") + frame(2, 4, "err\n") + frame(1, 1, "o"), "out\nerr\no", nil},
		"an empty frame":                      {frame(1, 0, "") + frame(1, 2, "ok"), "ok", nil},
		"a connection that breaks in a head":  {frame(1, 2, "ok") + "\x01\x00", "ok", io.ErrUnexpectedEOF},
		"a connection that breaks in a frame": {frame(1, 9, "short"), "short", io.ErrUnexpectedEOF},
		"a frame of four gigabytes":           {frame(1, 1<<32-1, "short"), "short", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, from := range []io.Reader{strings.NewReader(c.sent), iotest.OneByteReader(strings.NewReader(c.sent)), iotest.DataErrReader(strings.NewReader(c.sent))} {
				var got bytes.Buffer
				_, err := io.Copy(&got, &output{ReadCloser: io.NopCloser(from)})
				if got.String() != c.want || !errors.Is(err, c.failure) {
					t.Errorf("%T: got %q and %v, want %q and %v", from, got.String(), err, c.want, c.failure)
				}
			}
		})
	}
}

// TestOutputThatTheEngineCannotSend ends with an error instead of the engine's words.
func TestOutputThatTheEngineCannotSend(t *testing.T) {
	t.Parallel()
	said, err := io.ReadAll(&output{ReadCloser: io.NopCloser(strings.NewReader(frame(1, 2, "ok") + frame(3, 6, "broken")))})
	if string(said) != "ok" || err == nil {
		t.Errorf("got %q and %v, want an error after ok", said, err)
	}
}
