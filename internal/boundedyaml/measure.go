// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package boundedyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Limits bound a document as it is after all aliases are expanded.
type Limits struct {
	// Bytes bounds the document before the expansion, and its scalars and keys after it.
	Bytes int
	// Nodes bounds the scalars, keys, lists and maps, and before the expansion also the lines and separators.
	Nodes int
	// Depth bounds how deep lists and maps are nested.
	Depth int
	// Single refuses more than one document that is not empty. Decoding takes the first and drops the others, which somebody else may read.
	Single bool
}

// ErrSeveral is the error of what has more than one document, although it must not.
var ErrSeveral = errors.New("the YAML has more than one document")

// LimitError is the error of a document that exceeds a limit.
type LimitError struct {
	// What is exceeded, and the Limit.
	What  string
	Limit int
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the YAML document, with its aliases expanded, has more than %d %s", e.Limit, e.What)
}

// Check reports whether the documents in data stay within the limits together. It needs memory in proportion to data only.
func Check(data []byte, limits Limits) error {
	if len(data) > limits.Bytes {
		return &LimitError{What: "bytes", Limit: limits.Bytes}
	}
	if bytes.HasPrefix(data, []byte{0xFE, 0xFF}) || bytes.HasPrefix(data, []byte{0xFF, 0xFE}) {
		return errors.New("cannot parse YAML: UTF-16 is not supported, use UTF-8")
	}
	// The parser keeps every node, so a document with too many of them must not even be parsed.
	if indicators(data) > limits.Nodes {
		return &LimitError{What: "lines and separators", Limit: limits.Nodes}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	total, documents := size{}, 0
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot parse YAML: %w", err)
		}
		m := &meter{limits: limits, known: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}
		of, err := m.measure(&document, 0)
		if err != nil {
			return err
		}
		if total = total.plus(of); total.exceeds(limits) != nil {
			return total.exceeds(limits)
		}
		if !empty(&document) {
			documents++
		}
		if limits.Single && documents > 1 {
			return ErrSeveral
		}
	}
}

// empty reports whether nothing is between two separators of documents but comments. A list or a map is not nothing, whatever its tag says.
func empty(document *yaml.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Kind == yaml.ScalarNode && document.Content[0].ShortTag() == "!!null"
}

// indicators counts what nodes begin after: line breaks, separators and indicators. Each of them begins at most three nodes (a
// map, a key and its value), so that the count bounds what the parser allocates. Counting needs no memory.
func indicators(data []byte) int {
	count := 1
	for i, b := range data {
		switch b {
		case '\n', '\r', ',', '[', '{':
			count++
		case '-', '?', ':':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				count++
			}
		case 0xC2, 0xE2: // may begin a line break of Unicode
			for _, lineBreak := range []string{"\u0085", "\u2028", "\u2029"} {
				if bytes.HasPrefix(data[i:], []byte(lineBreak)) {
					count++
				}
			}
		}
	}
	return count
}

// size is what a node is after the expansion. Sums stay below twice the limits, because every sum is checked.
type size struct{ nodes, bytes, depth int }

func (s size) plus(other size) size {
	return size{nodes: s.nodes + other.nodes, bytes: s.bytes + other.bytes, depth: max(s.depth, other.depth)}
}

func (s size) exceeds(limits Limits) error {
	switch {
	case s.nodes > limits.Nodes:
		return &LimitError{What: "nodes", Limit: limits.Nodes}
	case s.bytes > limits.Bytes:
		return &LimitError{What: "bytes", Limit: limits.Bytes}
	case s.depth > limits.Depth:
		return &LimitError{What: "levels", Limit: limits.Depth}
	default:
		return nil
	}
}

// meter measures the nodes of one document. Each anchored node is measured once, however many aliases it has.
type meter struct {
	limits Limits
	known  map[*yaml.Node]size
	// open are the anchored nodes that are being measured: an alias to one of them would never end.
	open map[*yaml.Node]bool
}

func (m *meter) measure(node *yaml.Node, level int) (size, error) {
	if level > m.limits.Depth {
		return size{}, &LimitError{What: "levels", Limit: m.limits.Depth}
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if of, ok := m.known[node]; ok {
		return of, nil
	}
	if m.open[node] {
		return size{}, fmt.Errorf("cannot expand the YAML alias %q: it contains itself", node.Anchor)
	}
	if node.Anchor != "" {
		m.open[node] = true
		defer delete(m.open, node)
	}
	inside := size{}
	for _, child := range node.Content {
		of, err := m.measure(child, level+1)
		if err != nil {
			return size{}, err
		}
		if inside = inside.plus(of); inside.exceeds(m.limits) != nil {
			return size{}, inside.exceeds(m.limits)
		}
	}
	out := size{nodes: inside.nodes + 1, bytes: inside.bytes + len(node.Value), depth: inside.depth + 1}
	if node.Anchor != "" {
		m.known[node] = out
	}
	return out, out.exceeds(m.limits)
}
