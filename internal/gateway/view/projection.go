// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of a projection.
const (
	// MaxProjection bounds the text of a projection, in bytes.
	MaxProjection = 1024
	// maxPaths is how many paths it has at most, and maxDepth how many fields one path.
	maxPaths, maxDepth = 32, 16
)

// identity are the paths that every projection has: what an object is, and which version of it.
const identity = "apiVersion,kind,metadata.name,metadata.namespace,metadata.uid,metadata.resourceVersion"

// fieldMetadata is the field that the metadata of an object is.
const fieldMetadata = "metadata"

// Projection is a choice of the fields of objects. Nil has all of them.
type Projection struct {
	root *chosen
	// text names the projection: two that choose the same fields have the same one.
	text string
}

// chosen is what is chosen of a value: the fields below, or all of it without any.
type chosen struct{ below map[string]*chosen }

// ParseProjection reads paths such as metadata.labels,status.conditions.type. It returns nil for an empty text.
func ParseProjection(text string) (*Projection, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // because nothing is left out
	}
	wrong := func(message string) error { return &FieldError{Location: "query.fields", Message: message} }
	if len(text) > MaxProjection {
		return nil, &FieldError{Location: "query.fields", Message: fmt.Sprintf("must not be longer than %d bytes", MaxProjection), Code: FieldTooLong}
	}
	out := &Projection{root: &chosen{below: map[string]*chosen{}}}
	paths := split(text, ',')
	if len(paths) > maxPaths {
		return nil, wrong(fmt.Sprintf("must not have more than %d paths", maxPaths))
	}
	for _, path := range append(paths, split(identity, ',')...) {
		names := split(path, '.')
		if len(names) > maxDepth {
			return nil, wrong(fmt.Sprintf("must not have paths of more than %d fields", maxDepth))
		}
		for i, name := range names {
			if names[i] = strings.ReplaceAll(name, `\`, ""); names[i] == "" {
				return nil, wrong("must be paths such as metadata.labels, separated by commas. A backslash comes before a dot in a name")
			}
		}
		out.root.choose(names)
	}
	out.text = out.root.String()
	return out, nil
}

// split splits at a separator, but not behind a backslash.
func split(text string, separator byte) []string {
	var out []string
	begin := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case separator:
			out = append(out, text[begin:i])
			begin = i + 1
		}
	}
	return append(out, text[begin:])
}

// choose adds a path. All of a value is more than a part of it.
func (c *chosen) choose(names []string) {
	for i, name := range names {
		next, known := c.below[name]
		switch {
		case i == len(names)-1:
			c.below[name] = &chosen{}
			return
		case known && next.below == nil:
			return
		case !known:
			next = &chosen{below: map[string]*chosen{}}
			c.below[name] = next
		}
		c = next
	}
}

// String implements fmt.Stringer.
func (c *chosen) String() string {
	if c.below == nil {
		return ""
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.below)) {
		fmt.Fprintf(&out, "%q{%s}", name, c.below[name])
	}
	return out.String()
}

// String implements fmt.Stringer.
func (p *Projection) String() string {
	if p == nil {
		return ""
	}
	return p.text
}

// Tag returns the tag of an answer that has the tag without the projection: other fields are another answer.
func (p *Projection) Tag(of Tag) Tag {
	if p == nil {
		return of
	}
	return TagOf(append(of[:], p.text...))
}

// Of returns the chosen fields of an object, which has to be JSON.
func (p *Projection) Of(object []byte) []byte {
	if p == nil {
		return object
	}
	return project(object, p.root)
}

// Metadata returns the chosen fields of the metadata of an object.
func (p *Projection) Metadata(metadata []byte) []byte {
	if p == nil {
		return metadata
	}
	return project(metadata, p.root.below[fieldMetadata])
}

// Row returns a row of a table whose object has only the chosen fields.
func (p *Projection) Row(row []byte) []byte {
	var parts map[string]json.RawMessage
	if p == nil || json.Unmarshal(row, &parts) != nil || parts["object"] == nil {
		return row
	}
	parts["object"] = p.Of(parts["object"])
	out, err := json.Marshal(parts)
	if err != nil {
		return row // what was decoded can be encoded
	}
	return out
}

// Items returns items that have only the chosen fields as JSON, and nothing else.
func (p *Projection) Items(items []*Item) []*Item {
	if p == nil {
		return items
	}
	out := make([]*Item, len(items))
	for i, item := range items {
		raw := p.Of(item.JSON)
		out[i] = &Item{JSON: raw, Tag: TagOf(raw)}
	}
	return out
}

// project returns what is chosen of a JSON document; an empty object if that is nothing.
func project(document []byte, of *chosen) []byte {
	if of.below == nil {
		return document
	}
	cut := &cutter{rest: document}
	out, some := cut.value(make([]byte, 0, min(len(document), len(of.below)*64)), of)
	if !some || cut.broken || !json.Valid(out) {
		return []byte("{}")
	}
	return out
}
