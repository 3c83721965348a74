// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// document is a text in Markdown.
type document struct {
	source   []byte
	node     ast.Node
	title    string
	headings []heading
	links    []link
}

// heading is a heading with the anchor that a forge gives it.
type heading struct {
	Level  int
	Text   string
	Anchor string
}

// link is a link or picture.
type link struct {
	line   int
	target string
	// set changes the target, and is nil where the link is written as HTML.
	set func(string)
}

// reader reads and writes what a forge does: tables, strikethrough, task lists, and links that are written out.
func reader() goldmark.Markdown {
	return goldmark.New(
		// A style in an element would need a weaker content security policy.
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.Linkify, extension.TaskList),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(&codeRenderer{}, 100))),
	)
}

// read reads a text.
func read(source []byte) *document {
	context := parser.NewContext(parser.WithIDs(&anchors{taken: map[string]int{}}))
	d := &document{source: source, node: reader().Parser().Parse(text.NewReader(source), parser.WithContext(context))}
	var comments []ast.Node
	_ = ast.Walk(d.node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			h := heading{Level: n.Level, Text: plain(n, source), Anchor: string(anchor)}
			if h.Level == 1 && d.title == "" {
				d.title = h.Text
			}
			d.headings = append(d.headings, h)
		case *ast.Link:
			d.links = append(d.links, link{d.line(n), string(n.Destination), func(to string) { n.Destination = []byte(to) }})
		case *ast.Image:
			d.links = append(d.links, link{d.line(n), string(n.Destination), func(to string) { n.Destination = []byte(to) }})
		case *ast.AutoLink:
			d.links = append(d.links, link{line: d.line(n), target: string(n.URL(source))})
		case *ast.HTMLBlock:
			if comment(n.Lines().Value(source)) {
				comments = append(comments, n)
			}
			d.addHTML(n, n.Lines().Value(source))
		case *ast.RawHTML:
			d.addHTML(n, n.Segments.Value(source))
		}
		return ast.WalkContinue, nil
	})
	for _, n := range comments { // they are for tests, not for readers
		n.Parent().RemoveChild(n.Parent(), n)
	}
	return d
}

// html returns the text as HTML.
func (d *document) html() (string, error) {
	var out bytes.Buffer
	if err := reader().Renderer().Render(&out, d.source, d.node); err != nil {
		return "", fmt.Errorf("cannot write HTML: %w", err)
	}
	// What is wide scrolls by itself, and can be reached with the keyboard for that.
	return strings.NewReplacer(`<pre class="chroma">`, `<pre class="chroma" tabindex="0">`, "<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>").Replace(out.String()), nil
}

var attribute = regexp.MustCompile(`\b(?:href|src|srcset)="([^"]*)"`)

func (d *document) addHTML(n ast.Node, raw []byte) {
	for _, found := range attribute.FindAllSubmatch(raw, -1) {
		d.links = append(d.links, link{line: d.line(n), target: string(found[1])})
	}
}

func comment(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return bytes.HasPrefix(raw, []byte("<!--")) && bytes.HasSuffix(raw, []byte("-->"))
}

// line returns the line in which the block of a node begins, counted from 1.
func (d *document) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return 1 + bytes.Count(d.source[:n.Lines().At(0).Start], []byte("\n"))
		}
	}
	return 1
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Value(source))
			}
		case *ast.String:
			if entering {
				out.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
