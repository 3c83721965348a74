// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

const (
	// snapshotBytes is how large one event of a snapshot may be before the next one begins.
	snapshotBytes = 256 << 10
	// snapshotRate is how many bytes of a snapshot, and of changes, a reader has to take in a second, beside the time for a single batch. Meanwhile the objects
	// stay in memory as they were, and nobody asks whether the reader may still see them.
	snapshotRate = 64 << 10
	// batchTime is for how long a stream goes on with changes before it looks after its other duties: a reader who is about as slow as the changes come
	// is never done with them.
	batchTime = time.Second
)

// startTaking begins what the reader has to take at snapshotRate, and stopTaking ends it.
func (s *stream) startTaking() { s.taking, s.taken = s.Now(), 0 }
func (s *stream) stopTaking()  { s.taking = time.Time{} }

// snapshot writes all objects that the reader may see.
func (s *stream) snapshot(of snapshot) error {
	s.startTaking()
	defer s.stopTaking()
	for i, p := range of.parts {
		of.parts[i].items = nil // which others may have replaced by the time that this reader has them
		var err error
		switch {
		case p.refused:
			err = s.write(deniedEvent(p.kind.Plural, nil))
		case !p.pending:
			err = s.part(p)
		}
		if err != nil {
			return err
		}
	}
	if err := s.id(of.sequence); err != nil {
		return err
	}
	if err := s.writeString(snapshotDone); err != nil {
		return err
	}
	return s.flush()
}

// part writes the items of one kind from where they are: hundreds of readers at once must not each hold a copy.
func (s *stream) part(of part) error {
	head, scope := snapshotHead(of.kind.Plural), s.scopes[of.kind.Plural]
	if err := s.writeString(head); err != nil {
		return err
	}
	written := 0
	for _, item := range of.items {
		if !scope.Admits(of.kind.ScopeOf(item)) {
			continue
		}
		object := s.Fields.Of(item.JSON)
		separator := ","
		switch {
		case written == 0:
			separator = ""
		case written+len(object) > snapshotBytes:
			separator, written = snapshotMore+head, 0
		}
		if err := s.writeString(separator); err != nil {
			return err
		}
		if err := s.write(object); err != nil {
			return err
		}
		written += len(object)
	}
	return s.writeString(snapshotLast)
}

// denyLost says what of a kind the reader may no longer see.
func (s *stream) denyLost(k *Kind, before, now view.Scope) error {
	if before.Empty() || now.All {
		return nil
	}
	if before.All || now.Empty() {
		return s.write(deniedEvent(k.Plural, nil))
	}
	var lost []string
	for _, namespace := range before.Names() {
		if !now.Admits(namespace) {
			lost = append(lost, namespace)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return s.write(deniedEvent(k.Plural, lost))
}

// missed writes the changes that a reader who resumes has missed.
func (s *stream) missed(all []*change) error {
	s.startTaking()
	defer s.stopTaking()
	for i, c := range all {
		all[i] = nil // which the journal may have dropped by the time that this reader has it
		if err := s.change(c); err != nil {
			return err
		}
	}
	return s.flush()
}

// batch writes a change and those that wait behind it, for a while. It returns true for a reader who has lost one.
func (s *stream) batch(next *change) (lost bool, err error) {
	s.startTaking()
	defer s.stopTaking()
	for {
		s.reader.took(next)
		if s.reader.lost.Load() {
			return true, nil
		}
		if err := s.change(next); err != nil || s.Now().Sub(s.taking) > batchTime {
			return false, err
		}
		select {
		case next = <-s.reader.queue:
		default:
			return false, nil
		}
	}
}

// change writes a change: an id of the reader's own, and the bytes that all readers share, or of an object the fields that this one wants.
func (s *stream) change(c *change) error {
	if err := s.id(c.sequence); err != nil {
		return err
	}
	begin, end, ok := inUpsert(c.plural, c.payload)
	if s.Fields == nil || !ok {
		return s.write(c.payload)
	}
	for _, part := range [][]byte{c.payload[:begin], s.Fields.Of(c.payload[begin:end]), c.payload[end:]} {
		if err := s.write(part); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) id(sequence uint64) error {
	s.line = appendIDLine(s.line[:0], s.hub.journal.epoch, sequence, s.hash)
	return s.write(s.line)
}

func (s *stream) write(raw []byte) error {
	s.extend(len(raw))
	_, err := s.out.Write(raw)
	return err
}

func (s *stream) writeString(text string) error {
	s.extend(len(text))
	_, err := s.out.WriteString(text)
	return err
}

func (s *stream) flush() error {
	s.extend(0)
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.control.Flush()
}

// extend gives the reader time for the bytes that are written next: a full buffer is sent at once. The deadline moves once a second and
// not with every event, which would cost more than the event.
func (s *stream) extend(bytes int) {
	until := s.Now().Add(writeTimeout)
	if !s.taking.IsZero() {
		s.taken += bytes
		if end := s.taking.Add(writeTimeout + time.Duration(s.taken)*time.Second/snapshotRate); end.Before(until) {
			until = end
		}
	}
	if until.Sub(s.until) > writeTimeout/30 {
		s.until = until
		// A connection without deadlines, such as a recorder in a test, needs none.
		_ = s.control.SetWriteDeadline(s.until)
	}
}
