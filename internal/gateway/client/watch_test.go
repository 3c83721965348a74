// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// collect reads all events of a text, and the error that ends it.
func collect(text string) (events []Event, err error) {
	read(strings.NewReader(text), func(event Event, failed error) bool {
		if failed != nil {
			err = failed
			return false
		}
		events = append(events, event)
		return true
	})
	return events, err
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text   string
		want   []Event
		broken bool
	}{
		"nothing":                         {"", nil, false},
		"comments and times are no event": {": still here\n\nretry: 2000\n\n", nil, false},
		"beats are passed over":           {"event: beat\ndata: {\"type\":\"beat\"}\n\nevent: resync\ndata: {}\n\n", []Event{{Name: EventResync}}, false},
		"one without an id":               {"event: resync\ndata: {}\n\n", []Event{{Name: EventResync}}, false},
		"one with everything": {
			"id: e-7-s\nevent: delete\ndata: {\"kind\":\"services\",\"namespace\":\"a\",\"name\":\"b\",\"uid\":\"u\"}\n\n",
			[]Event{{ID: "e-7-s", Name: EventDelete, Kind: "services", Namespace: "a", ObjName: "b", UID: "u"}},
			false,
		},
		"data in several lines":    {"event: snapshot\ndata: {\"done\":\ndata: true}\n\n", []Event{{Name: EventSnapshot, Done: true}}, false},
		"one that is cut":          {"event: resync\ndata: {}\n\nevent: upsert\ndata: {\"ki", []Event{{Name: EventResync}}, false},
		"what is no JSON":          {"event: upsert\ndata: {\n\n", nil, true},
		"without any data":         {"event: upsert\n\n", nil, true},
		"a line that never ends":   {"data: " + strings.Repeat("x", maxLine), nil, true},
		"data without an event":    {"data: {}\n\nevent: resync\ndata: {}\n\n", []Event{{Name: EventResync}}, false},
		"lines with both endings":  {"event: resync\r\ndata: {}\r\n\r\n", []Event{{Name: EventResync}}, false},
		"an unknown field is left": {"event: resync\nother: 1\ndata: {\"new\":1}\n\n", []Event{{Name: EventResync}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := collect(test.text)
			if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.broken {
				t.Errorf("error %v, events (-want +got):\n%s", err, diff)
			}
		})
	}
}

// FuzzRead holds that no text is too strange to be read, and that what a gateway writes around any object is read as it was.
func FuzzRead(f *testing.F) {
	f.Add("event: upsert\ndata: {\"kind\":\"a\"}\n\n", "web", "e-1-s")
	f.Add("data\n\n:\n\nid\n", "", "")
	f.Fuzz(func(t *testing.T, text, name, id string) {
		before, err := collect(text)
		for _, event := range before {
			if event.Name == "" {
				t.Errorf("%q has an event without a name: %+v", text, event)
			}
		}
		object, marshalErr := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}})
		if marshalErr != nil || err != nil || strings.ContainsAny(id, "\r\n") || strings.HasPrefix(id, " ") {
			return
		}
		written := fmt.Sprintf("id: %s\nevent: upsert\ndata: {\"kind\":\"services\",\"object\":%s}\n\n", id, object)
		after, err := collect(written)
		if err != nil || len(after) != 1 || after[0].ID != id || string(after[0].Object) != string(object) {
			t.Errorf("%q is read as %+v, %v", written, after, err)
		}
	})
}
