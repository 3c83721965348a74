// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// maxLine bounds one line of a stream, in bytes: an object has at most 3 MiB, and a part of a snapshot a little more.
const maxLine = 8 << 20

// Names of events.
const (
	// EventSnapshot has existing objects. The last one has Done.
	EventSnapshot = "snapshot"
	// EventUpsert has a new or changed object.
	EventUpsert = "upsert"
	// EventDelete names a deleted object.
	EventDelete = "delete"
	// EventResync tells the reader to forget everything: a snapshot follows.
	EventResync = "resync"
	// EventDenied says what the caller may not see, or no longer.
	EventDenied = "denied"
	// EventSummary has counts of all kinds.
	EventSummary = "summary"
	// EventStale names kinds that may be old, because the API server does not answer, and EventFresh says that nothing is any more.
	EventStale = "stale"
	EventFresh = "fresh"
	// EventExpired says that the token is no longer accepted. The stream ends.
	EventExpired = "expired"
)

// eventBeat says that the stream lives, and nothing of objects: it is not passed on.
const eventBeat = "beat"

// Event is one event of a stream.
type Event struct {
	// ID to name when the stream is opened again. Empty for events that do not change it. That of a snapshot which is not complete
	// makes the next stream begin with a resync.
	ID string `json:"-"`
	// Name of the event.
	Name string `json:"-"`
	// Type of the data: the name, and complete for the snapshot that has Done.
	Type string `json:"type"`
	// Kind, as in the routes.
	Kind string `json:"kind"`
	// Items of a part of a snapshot. More is true if the kind has further parts.
	Items []json.RawMessage `json:"items"`
	More  bool              `json:"more"`
	// Done is true at the end of a snapshot.
	Done bool `json:"done"`
	// Object is new or has changed.
	Object json.RawMessage `json:"object"`
	// Namespace, ObjName and UID of a deleted object.
	Namespace string `json:"namespace"`
	ObjName   string `json:"name"`
	UID       string `json:"uid"`
	// Namespaces that are denied. Nil is all of them.
	Namespaces []string `json:"namespaces"`
	// Counts of kinds, and the kinds that are Hidden from them.
	Counts []view.KindCounts `json:"kinds"`
	Hidden []string          `json:"hidden"`
}

// Watch watches the kinds in the namespace, or in all that the caller may see. It resumes after the event with the id lastID,
// or begins with a snapshot. It ends with an error, with the context, or when the loop over it ends.
func (c *Client) Watch(ctx context.Context, namespace, lastID string, kinds ...string) iter.Seq2[Event, error] {
	query := url.Values{}
	set(query, "ns", namespace)
	set(query, "kinds", strings.Join(kinds, ","))
	return c.follow(ctx, query, lastID)
}

// WatchSummary does the same, and also has counts of all kinds whenever they change, at most once a second.
func (c *Client) WatchSummary(ctx context.Context, namespace, lastID string, kinds ...string) iter.Seq2[Event, error] {
	query := url.Values{"summary": {"true"}}
	set(query, "ns", namespace)
	set(query, "kinds", strings.Join(kinds, ","))
	return c.follow(ctx, query, lastID)
}

// WatchFields does what Watch does, with objects that have the fields only: paths, separated by commas.
func (c *Client) WatchFields(ctx context.Context, namespace, lastID, fields string, kinds ...string) iter.Seq2[Event, error] {
	query := url.Values{}
	set(query, "ns", namespace)
	set(query, "kinds", strings.Join(kinds, ","))
	set(query, "fields", fields)
	return c.follow(ctx, query, lastID)
}

// follow reads a stream.
func (c *Client) follow(ctx context.Context, query url.Values, lastID string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		header := http.Header{}
		if lastID != "" {
			header.Set("Last-Event-ID", lastID)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		response, err := c.send(ctx, http.MethodGet, "/v1/watch", query, nil, header)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer func() { _ = response.Body.Close() }()
		read(response.Body, yield)
	}
}

// read reads events until the stream ends. It drops an incomplete event.
func read(from io.Reader, yield func(Event, error) bool) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	var event Event
	var data []byte
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(lines.Bytes()) == 0:
			if event.Name != "" && event.Name != eventBeat && !deliver(event, data, yield) {
				return
			}
			event, data = Event{}, nil // which the caller may have kept
		case string(name) == "id":
			event.ID = string(value)
		case string(name) == "event":
			event.Name = string(value)
		case string(name) == "data":
			data = append(data, value...)
		}
	}
	if err := lines.Err(); err != nil {
		yield(Event{}, fmt.Errorf("cannot read the stream: %w", err))
	}
}

// deliver decodes the data of an event and yields it. It returns false if the stream has to end.
func deliver(event Event, data []byte, yield func(Event, error) bool) bool {
	if err := json.Unmarshal(data, &event); err != nil {
		yield(event, fmt.Errorf("cannot read event %q: %w", event.Name, err))
		return false
	}
	return yield(event, nil)
}
