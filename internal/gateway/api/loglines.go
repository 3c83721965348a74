// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/tail"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// mediaLines is JSON, one document a line.
const mediaLines = "application/x-ndjson"

// textLines writes lines as kubectl logs --prefix does. No line of a pod begins like a notice.
type textLines struct {
	to         *bufio.Writer
	timestamps bool
}

// Put implements tail.Sink.
func (s *textLines) Put(line *tail.Line) error {
	if line.Notice != "" {
		where := ""
		if line.Pod != "" {
			where = line.Pod + "/" + line.Container + " "
		}
		// A notice can have what an API server or a node says.
		_, err := fmt.Fprintf(s.to, "[notice] %s%s\n", where, strings.ReplaceAll(line.Notice, "\n", " "))
		return err
	}
	stamp := ""
	if s.timestamps && !line.Time.IsZero() { // what a node says in place of a log has no time
		stamp = line.Time.Format(time.RFC3339Nano) + " "
	}
	if _, err := fmt.Fprintf(s.to, "[pod/%s/%s] %s", line.Pod, line.Container, stamp); err != nil {
		return err
	}
	if _, err := s.to.Write(line.Text); err != nil {
		return err
	}
	end := "\n"
	if line.Cut > 0 {
		end = fmt.Sprintf(" [%d bytes more]\n", line.Cut)
	}
	_, err := s.to.WriteString(end)
	return err
}

// Flush implements tail.Sink.
func (s *textLines) Flush() error { return s.to.Flush() }

// jsonLines writes each line as a JSON document.
type jsonLines struct {
	to      *bufio.Writer
	encoder *json.Encoder
}

// Put implements tail.Sink.
func (s *jsonLines) Put(line *tail.Line) error {
	out := view.LogLine{Pod: line.Pod, Container: line.Container, Cut: line.Cut, Notice: line.Notice}
	if line.Notice == "" {
		out.Line = new(string(line.Text))
		if !line.Time.IsZero() {
			out.Time = &line.Time
		}
	}
	return s.encoder.Encode(out)
}

// Flush implements tail.Sink.
func (s *jsonLines) Flush() error { return s.to.Flush() }
