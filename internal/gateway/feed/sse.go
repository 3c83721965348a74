// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// MediaType is the media type of a stream.
const MediaType = "text/event-stream"

// Data of events say what they are in type, so that a reader who decodes them needs no name.

// Lines that are the same in every stream.
const (
	// retryLine tells a browser to wait two seconds before it reconnects.
	retryLine = "retry: 2000\n\n"
	// heartbeatEvent says that the stream lives: a page does not see comments, and a connection whose packets vanish does not end. It has
	// no id, so that a reader resumes after the change before it.
	heartbeatEvent = "event: beat\ndata: {\"type\":\"beat\"}\n\n"
	// noID is an id that no stream resumes after, for the event that follows. A reader who has a part of a snapshot has forgotten the rest:
	// if the connection breaks, they must not name an id from before.
	noID = "id: none\n"
	// resyncEvent tells a reader to forget everything.
	resyncEvent = noID + "event: resync\ndata: {\"type\":\"resync\"}\n\n"
	// expiredEvent is the last event of a stream whose token is no longer accepted.
	expiredEvent = "event: expired\ndata: {\"type\":\"expired\"}\n\n"
	// freshEvent ends what a stale event has begun.
	freshEvent = "event: fresh\ndata: {\"type\":\"fresh\"}\n\n"
	// snapshotDone ends a snapshot of all kinds.
	snapshotDone = "event: snapshot\ndata: {\"type\":\"complete\",\"done\":true}\n\n"
	// snapshotMore and snapshotLast end an event with objects of a kind.
	snapshotMore = "],\"more\":true}\n\n"
	snapshotLast = "],\"more\":false}\n\n"
	// What is around the kind and the object in the event of an object that is new or changed.
	upsertHead   = "event: upsert\ndata: {\"type\":\"upsert\",\"kind\":\""
	upsertObject = `","object":`
	upsertEnd    = "}\n\n"
)

// snapshotHead begins an event with objects of a kind, which follow as they are: with hundreds of readers at once, no reader
// may cost a copy.
func snapshotHead(plural string) string {
	return "event: snapshot\ndata: {\"type\":\"snapshot\",\"kind\":" + strconv.Quote(plural) + ",\"items\":["
}

// upsertEvent encodes a new or changed object.
func upsertEvent(plural string, item *view.Item) []byte {
	out := make([]byte, 0, len(upsertHead)+len(plural)+len(upsertObject)+len(item.JSON)+len(upsertEnd))
	out = append(append(append(out, upsertHead...), plural...), upsertObject...)
	return append(append(out, item.JSON...), upsertEnd...)
}

// inUpsert returns where the object of an event is; false for the event of an object that is gone.
func inUpsert(plural string, payload []byte) (begin, end int, ok bool) {
	if !bytes.HasPrefix(payload, []byte(upsertHead)) {
		return 0, 0, false
	}
	return len(upsertHead) + len(plural) + len(upsertObject), len(payload) - len(upsertEnd), true
}

// deleteEvent encodes the name of an object that is gone.
func deleteEvent(plural string, item *view.Item) []byte {
	return event("delete", struct {
		Type      string `json:"type"`
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		UID       string `json:"uid"`
	}{"delete", plural, item.Namespace, item.Name, string(item.UID)})
}

// deniedEvent encodes which namespaces of a kind the reader may not see; nil for all of them.
func deniedEvent(plural string, namespaces []string) []byte {
	return event("denied", struct {
		Type       string   `json:"type"`
		Kind       string   `json:"kind"`
		Namespaces []string `json:"namespaces"`
	}{"denied", plural, namespaces})
}

// staleEvent encodes which kinds may be old.
func staleEvent(of stale) []byte {
	return event("stale", struct {
		Type   string    `json:"type"`
		Behind []string  `json:"behind"`
		Since  time.Time `json:"since"`
	}{"stale", of.kinds, of.since.UTC().Truncate(time.Second)})
}

func event(name string, data any) []byte {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil // strings can always be encoded
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, raw)
}

// appendIDLine appends the line with the id of a change. Only its last part differs between readers.
func appendIDLine(to []byte, epoch string, sequence uint64, hash string) []byte {
	to = append(append(append(to, "id: "...), epoch...), '-')
	to = append(strconv.AppendUint(to, sequence, 10), '-')
	return append(append(to, hash...), '\n')
}
