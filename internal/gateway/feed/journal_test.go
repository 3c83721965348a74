// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// payloadsOf returns the size of what the journal keeps.
func payloadsOf(j *journal) (bytes, changes int) {
	for _, kept := range &j.ring {
		if kept != nil {
			bytes, changes = bytes+len(kept.payload), changes+1
		}
	}
	return bytes, changes
}

// TestAttackLargeChangesFillTheMemory changes an object of a MiB again and again, while one reader takes nothing and another one is away.
func TestAttackLargeChangesFillTheMemory(t *testing.T) {
	t.Parallel()
	h := NewHub(view.Kinds(), time.Now)
	must(t, services(h).Replace(nil, "1"))
	slow, begin := h.join(allServices, "", "")
	large := object("Service", "a", "x", 2)
	large.SetAnnotations(map[string]string{"padding": strings.Repeat("x", 1<<20)})
	const changes = 2 * ringBytes >> 20
	for i := range changes {
		large.SetResourceVersion(strconv.Itoa(i + 2))
		must(t, services(h).Update(large))
	}
	if bytes, kept := payloadsOf(h.journal); bytes > ringBytes || bytes != h.journal.bytes || kept < changes/2-1 {
		t.Errorf("the journal keeps %d changes with %d bytes, and counts %d", kept, bytes, h.journal.bytes)
	}
	waiting := 0
	for len(slow.queue) > 0 {
		waiting += len((<-slow.queue).payload)
	}
	if waiting > queueBytes || waiting == 0 || !slow.lost.Load() {
		t.Errorf("%d bytes wait for the slow reader, who is told to begin again: %t", waiting, slow.lost.Load())
	}
	id := func(sequence uint64) string {
		return fmt.Sprintf("%s-%d-%s", h.journal.epoch, sequence, allServices.hash(nil))
	}
	if _, again := h.join(allServices, id(begin.sequence), allServices.hash(nil)); again.resumed || len(again.parts) != 1 || len(again.parts[0].items) != 1 {
		t.Errorf("who was away for all of it gets %d changes of %d and %v", len(again.missed), changes, again.parts)
	}
	if _, again := h.join(allServices, id(h.journal.sequence-9), allServices.hash(nil)); !again.resumed || len(again.missed) != 9 {
		t.Errorf("who was away for the last nine gets %d changes: %t", len(again.missed), again.resumed)
	}
}

// TestASlowReaderIsWoken has a reader whose queue is full with one change: nothing else may come that would tell them to begin again.
func TestASlowReaderIsWoken(t *testing.T) {
	t.Parallel()
	r := newReader()
	for range 2 {
		r.offer(&change{payload: make([]byte, queueBytes+1)})
	}
	r.took(<-r.queue)
	if len(r.queue) == 0 || !r.lost.Load() {
		t.Errorf("%d changes wait, and the reader begins again: %t", len(r.queue), r.lost.Load())
	}
	r.reset()
	if r.bytes.Load() != 0 || r.lost.Load() {
		t.Errorf("the new queue has %d bytes: %t", r.bytes.Load(), r.lost.Load())
	}
}

// TestTheJournalKeepsTheNewestChanges holds which changes a reader can resume after.
func TestTheJournalKeepsTheNewestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes, size int
		want          uint64
	}{
		"nothing has changed":          {0, 0, 1},
		"as many as are kept":          {ringSize, 10, 1},
		"one more":                     {ringSize + 1, 10, 2},
		"many more":                    {3*ringSize + 5, 10, 2*ringSize + 6},
		"as large as what is kept":     {4, ringBytes / 4, 1},
		"larger":                       {5, ringBytes / 4, 2},
		"one that is larger by itself": {2, ringBytes + 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, payload := newJournal(time.Now), make([]byte, test.size)
			for range test.changes {
				j.add(view.ServicesPlural, "a", payload)
			}
			bytes, kept := payloadsOf(j)
			if j.oldest != test.want || kept != test.changes-int(j.oldest)+1 || bytes != j.bytes {
				t.Errorf("the oldest is %d, want %d; %d are kept with %d bytes of %d", j.oldest, test.want, kept, bytes, j.bytes)
			}
			missed, ok := j.since(j.oldest-1, allServices)
			if _, older := j.since(j.oldest-2, allServices); !ok || len(missed) != kept || older {
				t.Errorf("after the oldest there are %d of %d (%t), and before it: %t", len(missed), kept, ok, older)
			}
		})
	}
}
