// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-operator/windlass/internal/patch"
)

// passWatch holds the order of writes and events within a pass against what Windlass promises: at most one write of a status, and
// events only after it.
type passWatch struct {
	mu           sync.Mutex
	inPass       bool
	statusWrites int
	events       int
	early        bool
}

func (w *passWatch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inPass, w.statusWrites, w.events, w.early = true, 0, 0, false
}

func (w *passWatch) end(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inPass = false
	if w.statusWrites > 1 {
		t.Errorf("a pass wrote the status %d times", w.statusWrites)
	}
	if w.early {
		t.Error("a pass recorded an event before it wrote the status")
	}
}

// sawEvent is called for every event.
func (w *passWatch) sawEvent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events++
}

// sawRequest is called for every request. A writer of the status other than the reconciler, such as a sampler, has a field owner of its own.
func (w *passWatch) sawRequest(request *http.Request) {
	if request.Method == http.MethodGet || !strings.HasSuffix(request.URL.Path, "/status") ||
		request.URL.Query().Get("fieldManager") != string(patch.FieldOwner) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.inPass {
		return
	}
	w.statusWrites++
	w.early = w.early || w.events > 0
}
