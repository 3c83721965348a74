// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/windlass-operator/windlass/internal/provision"
)

// Bounds of a log, in bytes.
const (
	// maxLog is how much one file holds; there are two.
	maxLog = 2 << 20
	// maxLine is how long a line may be before it is cut into several.
	maxLine = 16 << 10
)

// logFile is the log of a run: redacted, line by line, and rotated once. Several writers can share it; lines stay whole. What cannot be
// written is counted and never stops the tool.
type logFile struct {
	path string

	mu       sync.Mutex
	redactor *provision.Redactor
	file     *os.File
	size     int64
	dropped  int64
	pending  []byte
}

// newLogFile opens the log.
func newLogFile(path string, redactor *provision.Redactor) (*logFile, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, noRoom(err)
	}
	return &logFile{path: path, redactor: redactor, file: file}, nil
}

// Write implements io.Writer. It never fails.
func (l *logFile) Write(raw []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, raw...)
	for {
		// No further than the longest line: otherwise, where a long line is cut would depend on how much the tool writes at once.
		end := bytes.IndexByte(l.pending[:min(len(l.pending), maxLine+1)], '\n')
		switch {
		case end >= 0:
			l.line(l.pending[:end])
			l.pending = l.pending[end+1:]
		case len(l.pending) > maxLine:
			l.line(l.pending[:maxLine])
			l.pending = l.pending[maxLine:]
		default:
			return len(raw), nil
		}
	}
}

// line writes one line.
func (l *logFile) line(raw []byte) {
	text := l.redactor.Line(strings.ToValidUTF8(strings.TrimRight(string(raw), "\r"), "?")) + "\n"
	if l.size+int64(len(text)) > maxLog {
		l.rotate()
	}
	written, err := l.file.WriteString(text)
	l.size += int64(written)
	if err != nil {
		l.dropped += int64(len(text) - written)
	}
}

// rotate makes room: the content of the previous file is dropped.
func (l *logFile) rotate() {
	if old, err := os.Stat(l.path + ".1"); err == nil {
		l.dropped += old.Size()
	}
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		return
	}
	fresh, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return // the log continues in the file that is open
	}
	_ = l.file.Close()
	l.file, l.size = fresh, 0
}

// Close writes what is left and returns how much was dropped.
func (l *logFile) Close() (dropped int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > 0 {
		l.line(l.pending)
		l.pending = nil
	}
	return l.dropped, errors.Join(l.file.Sync(), l.file.Close())
}

// tail returns the end of a log and its predecessor: whole lines, at most limit bytes.
func tail(path string, limit int) string {
	var text strings.Builder
	for _, part := range []string{path + ".1", path} {
		if raw, err := os.ReadFile(part); err == nil {
			_, _ = text.Write(raw)
		}
	}
	return lastBytes(text.String(), limit)
}

// lastBytes returns the end of a text from the beginning of a line, at most limit bytes.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, whole, found := strings.Cut(text, "\n"); found {
		return whole
	}
	return strings.ToValidUTF8(text, "")
}
