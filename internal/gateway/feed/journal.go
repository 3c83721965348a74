// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// ringSize is how many changes are kept for readers that resume.
	ringSize = 4096
	// ringBytes bounds them together: of objects of a MiB that many changes would fill the memory.
	ringBytes = 32 << 20
)

// change is a change of an object, encoded once for all readers.
type change struct {
	sequence uint64
	// plural is the kind of the object.
	plural string
	// namespace is the one whose readers may see the change, and empty for cluster-scoped objects.
	namespace string
	// payload is nil where all readers of the kind begin again.
	payload []byte
}

// journal numbers the changes of all stores and keeps the last ones. Its lock guards the stores and their readers too, so
// that a snapshot and the changes after it fit together.
type journal struct {
	pulse

	// epoch tells the changes of this process from those of another.
	epoch string
	now   func() time.Time

	mu sync.RWMutex
	// sequence is the number of the newest change, and oldest that of the oldest one that is kept.
	sequence, oldest uint64
	ring             [ringSize]*change
	// bytes is the size of all payloads that are kept.
	bytes int
}

func newJournal(now func() time.Time) *journal {
	return &journal{epoch: strings.ToLower(rand.Text()[:10]), now: now, oldest: 1, pulse: pulse{turned: make(chan struct{})}}
}

// add numbers a change and keeps it, and as many of those before it as there is room for. It needs the lock.
func (j *journal) add(plural, namespace string, payload []byte) *change {
	j.sequence++
	j.bytes += len(payload)
	for j.sequence-j.oldest >= ringSize || j.bytes > ringBytes && j.oldest < j.sequence {
		dropped := &j.ring[j.oldest%ringSize]
		j.bytes -= len((*dropped).payload)
		*dropped = nil
		j.oldest++
	}
	out := &change{sequence: j.sequence, plural: plural, namespace: namespace, payload: payload}
	j.ring[j.sequence%ringSize] = out
	journalBytes.Set(float64(j.bytes))
	return out
}

// since returns the changes after the one with that number that are in the scopes; false if some of them are no longer kept, or
// if changes do not tell all that has happened. It needs the lock.
func (j *journal) since(last uint64, of Scopes) ([]*change, bool) {
	if last > j.sequence || last+1 < j.oldest {
		return nil, false
	}
	var out []*change
	for sequence := last + 1; sequence <= j.sequence; sequence++ {
		kept := j.ring[sequence%ringSize]
		if kept.payload == nil && !of[kept.plural].Empty() {
			return nil, false
		}
		if of[kept.plural].Admits(kept.namespace) {
			out = append(out, kept)
		}
	}
	return out, true
}

// parseID returns the number of the change with that id, if it is of this process and of a reader with the same scopes.
func (j *journal) parseID(id, hash string) (uint64, bool) {
	epoch, rest, _ := strings.Cut(id, "-")
	number, of, _ := strings.Cut(rest, "-")
	sequence, err := strconv.ParseUint(number, 10, 64)
	return sequence, err == nil && epoch == j.epoch && of == hash
}
