// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
)

// cutter copies the chosen fields of a JSON document. It reads the document once and builds nothing of it: a list of nodes has megabytes,
// of which a page wants kilobytes.
type cutter struct {
	rest []byte
	// broken is true for a document that is no JSON.
	broken bool
}

// value copies what is chosen of the next value. It reports whether there is anything of it; if not, nothing is copied.
func (c *cutter) value(to []byte, of *chosen) ([]byte, bool) {
	c.space()
	switch {
	case of.below == nil:
		return append(to, c.skip()...), true
	case c.at('{'):
		return c.object(to, of)
	case c.at('['):
		return c.list(to, of)
	default: // a value that has no fields
		c.skip()
		return to, false
	}
}

func (c *cutter) object(to []byte, of *chosen) ([]byte, bool) {
	begin, some := len(to), false
	to = append(to, '{')
	for first := true; !c.end('}', first); first = false {
		key := c.skip()
		if len(key) < len(`""`) || !c.take(':') {
			c.broken = true
			return to[:begin], false
		}
		field := of.below[name(key)]
		if field == nil {
			c.skip()
			continue
		}
		mark := len(to)
		if some {
			to = append(to, ',')
		}
		to = append(append(to, key...), ':')
		var has bool
		if to, has = c.value(to, field); !has {
			to = to[:mark]
			continue
		}
		some = true
	}
	if !some {
		return to[:begin], false
	}
	return append(to, '}'), true
}

// list copies what is chosen of each element. An element that has nothing of it stays as an empty object, so that others keep their place.
func (c *cutter) list(to []byte, of *chosen) ([]byte, bool) {
	begin, some := len(to), false
	to = append(to, '[')
	for first := true; !c.end(']', first); first = false {
		if !first {
			to = append(to, ',')
		}
		var has bool
		if to, has = c.value(to, of); !has {
			to = append(to, "{}"...)
		}
		some = some || has
	}
	if !some {
		return to[:begin], false
	}
	return append(to, ']'), true
}

// end steps into a list or an object, or to its next element. It reports whether there is none.
func (c *cutter) end(bracket byte, first bool) bool {
	if first {
		c.rest = c.rest[1:]
		return c.take(bracket) || c.broken || len(c.rest) == 0 && c.fail()
	}
	if c.take(bracket) {
		return true
	}
	return c.broken || !c.take(',') && c.fail()
}

func (c *cutter) fail() bool {
	c.broken = true
	return true
}

// take takes a character, if it is the next one.
func (c *cutter) take(one byte) bool {
	c.space()
	if !c.at(one) {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

func (c *cutter) at(one byte) bool { return len(c.rest) > 0 && c.rest[0] == one }

func (c *cutter) space() {
	for len(c.rest) > 0 && (c.rest[0] == ' ' || c.rest[0] == '\n' || c.rest[0] == '\t' || c.rest[0] == '\r') {
		c.rest = c.rest[1:]
	}
}

// skip returns the next value as it is, and steps behind it.
func (c *cutter) skip() []byte {
	c.space()
	depth, length := 0, 0
	for length < len(c.rest) {
		switch c.rest[length] {
		case '"':
			length += quoted(c.rest[length:])
			if depth == 0 {
				return c.step(length)
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return c.step(length + min(1, depth+1)) // a bracket that is not of the value ends it
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return c.step(length)
			}
		}
		length++
	}
	return c.step(length)
}

func (c *cutter) step(length int) []byte {
	out := c.rest[:length]
	c.rest = c.rest[length:]
	c.broken = c.broken || length == 0
	return out
}

// quoted returns the length of the string that the document begins with.
func quoted(document []byte) int {
	for at := 1; at < len(document); {
		next := bytes.IndexByte(document[at:], '"')
		if next < 0 {
			break
		}
		at += next + 1
		before := document[1 : at-1]
		if escapes := len(before) - len(bytes.TrimRight(before, `\`)); escapes%2 == 0 {
			return at
		}
	}
	return len(document)
}

// name returns the name that a key is, with its quotes.
func name(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1 : len(key)-1])
	}
	var out string
	if json.Unmarshal(key, &out) != nil {
		return ""
	}
	return out
}
