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
)

// maxLine bounds one line of a stream, in bytes: an object has at most 3 MiB, and a part of a snapshot a little more.
const maxLine = 8 << 20

// Names of events.
const (
	// EventSnapshot brings objects that are there; with Done everything has been brought.
	EventSnapshot = "snapshot"
	// EventUpsert brings an object that is new or has changed.
	EventUpsert = "upsert"
	// EventDelete names an object that is gone.
	EventDelete = "delete"
	// EventResync says to forget everything: a snapshot follows.
	EventResync = "resync"
	// EventDenied says what the caller may not see, or not any more.
	EventDenied = "denied"
	// EventExpired says that the token has ended, and with it the stream.
	EventExpired = "expired"
)

// Event is one event of a stream.
type Event struct {
	// ID to go on from; empty for events that nothing can go on from.
	ID string `json:"-"`
	// Name of the event.
	Name string `json:"-"`
	// Kind as the routes call it.
	Kind string `json:"kind"`
	// Items of a part of a snapshot; More if the kind has further parts.
	Items []json.RawMessage `json:"items"`
	More  bool              `json:"more"`
	// Done is true at the end of a snapshot.
	Done bool `json:"done"`
	// Object that is new or has changed.
	Object json.RawMessage `json:"object"`
	// What is gone.
	Namespace string `json:"namespace"`
	ObjName   string `json:"name"`
	UID       string `json:"uid"`
	// Namespaces that are denied, nil for all.
	Namespaces []string `json:"namespaces"`
}

// Watch follows the kinds in the namespace, or in all that the caller may see, from after the event with the id lastID, or from a
// snapshot. The stream ends with an error, with the context, or when the caller no longer asks for the next event.
func (c *Client) Watch(ctx context.Context, namespace, lastID string, kinds ...string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		query := url.Values{}
		set(query, "ns", namespace)
		set(query, "kinds", strings.Join(kinds, ","))
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

// read reads events until their end. What is cut off is no event.
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
			if event.Name != "" && !deliver(event, data, yield) {
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

// deliver reads the data of an event and hands it over. It returns false if there is nothing to go on with.
func deliver(event Event, data []byte, yield func(Event, error) bool) bool {
	if err := json.Unmarshal(data, &event); err != nil {
		yield(event, fmt.Errorf("cannot read event %q: %w", event.Name, err))
		return false
	}
	return yield(event, nil)
}
