// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// anchors gives headings the anchors that GitHub gives them, so that a link works there and here.
type anchors struct{ taken map[string]int }

// Generate implements parser.IDs. The value is the heading in Markdown.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case r == ' ' || r == '-':
			out.WriteByte('-')
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r):
			out.WriteRune(r)
		}
	}
	anchor := out.String()
	count := a.taken[anchor]
	a.taken[anchor]++
	if count > 0 {
		anchor = fmt.Sprintf("%s-%d", anchor, count)
	}
	return []byte(anchor)
}

// Put implements parser.IDs.
func (a *anchors) Put(value []byte) { a.taken[string(value)]++ }
