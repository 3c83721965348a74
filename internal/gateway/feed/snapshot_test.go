// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// paced is a connection whose reader takes some time for each write, on a clock of its own.
type paced struct {
	http.ResponseWriter

	now, until time.Time
	pace       time.Duration
}

// Write implements io.Writer.
func (p *paced) Write(raw []byte) (int, error) {
	if p.now = p.now.Add(p.pace); p.now.After(p.until) {
		return 0, os.ErrDeadlineExceeded
	}
	return len(raw), nil
}

// SetWriteDeadline is what http.ResponseController looks for, as is FlushError.
func (p *paced) SetWriteDeadline(until time.Time) error {
	p.until = until
	return nil
}

// FlushError does nothing.
func (*paced) FlushError() error { return nil }

// TestAttackASnapshotThatNobodyTakes has readers of a snapshot of 400 KiB, and such who resume before as many changes. One that takes a little before each
// deadline used to keep the objects of that time in memory for hours.
func TestAttackASnapshotThatNobodyTakes(t *testing.T) {
	t.Parallel()
	const objects, size = 100, 4 << 10
	everything := Scopes{view.ServicesPlural: {All: true}}
	for name, c := range map[string]struct {
		pace time.Duration
		cut  bool
	}{
		"takes it at once":             {0, false},
		"takes 80 KiB a second":        {50 * time.Millisecond, false},
		"takes 4 KiB every 20 seconds": {20 * time.Second, true},
		"takes nothing":                {time.Hour, true},
	} {
		for what, resumes := range map[string]bool{"a snapshot": false, "what was missed": true} {
			t.Run(name+": "+what, func(t *testing.T) {
				t.Parallel()
				begun := time.Unix(1000, 0)
				out := &paced{ResponseWriter: httptest.NewRecorder(), now: begun, pace: c.pace}
				clock := func() time.Time { return out.now }
				h := NewHub(view.Kinds(), clock)
				must(t, services(h).Replace(nil, "1"))
				lastID := ""
				if resumes {
					lastID = fmt.Sprintf("%s-%d-%s", h.journal.epoch, h.journal.sequence, everything.hash(nil))
				}
				for i := range objects {
					one := object("Service", "a", fmt.Sprintf("s%03d", i), 2)
					one.SetAnnotations(map[string]string{"padding": strings.Repeat("x", size)})
					must(t, services(h).Add(one))
				}
				s := &stream{
					Subscription: Subscription{Now: clock, LastID: lastID}, hub: h, control: http.NewResponseController(out), out: bufio.NewWriterSize(out, 4096),
				}
				err := s.begin(everything)
				if (err != nil) != c.cut {
					t.Errorf("it ends with %v", err)
				}
				if took := out.now.Sub(begun); c.pace < time.Hour && took > time.Minute {
					t.Errorf("it took %s", took)
				}
			})
		}
	}
}
