// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Texts that stand for what an object does not have.
const (
	none    = "<none>"
	unknown = "<unknown>"
)

// cell is what one column shows of an object, as JSON. Where since is set, the time that has passed since then stands between
// before and after.
type cell struct {
	before, after string
	since         time.Time
}

// value returns a cell with a value.
func value(of any) cell {
	encoded, err := json.Marshal(of)
	if err != nil {
		return cell{before: "null"} // such as an infinite number, which JSON does not have
	}
	return cell{before: string(encoded)}
}

// text returns a cell with a text, or with its replacement if it is empty.
func text(of, replacement string) cell {
	if of == "" {
		of = replacement
	}
	return value(of)
}

// age returns a cell that says how long ago something was.
func age(since time.Time) cell { return ago("", since, "") }

// ago returns a cell that says how long ago something was, between two texts.
func ago(before string, since time.Time, after string) cell {
	if since.IsZero() {
		return value(before + unknown + after)
	}
	return cell{before: `"` + before, since: since, after: after + `"`}
}

// append appends the JSON of the cell at that time.
func (c *cell) append(to []byte, now time.Time) []byte {
	to = append(to, c.before...)
	if c.since.IsZero() {
		return to
	}
	// HumanDuration has digits and units only, which need no escapes.
	to = append(to, duration.HumanDuration(now.Sub(c.since))...)
	return append(to, c.after...)
}
