// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Page is a page in Markdown.
type Page struct {
	Path   string
	Blocks []Block
}

// Block is a fenced block of a page that has something to run.
type Block struct {
	// Line is where the block begins, counted from 1.
	Line     int
	Language string
	Text     string
	// NotRun says why the block is not run, empty if it is.
	NotRun string
	// First are commands to run before the block.
	First []string
}

// directive is a comment that changes how a block is run.
var directive = regexp.MustCompile(`^<!-- (not run|first): (.+) -->$`)

// Read reads the page in a file.
func Read(path string) (Page, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Page{}, fmt.Errorf("cannot read guide %q: %w", path, err)
	}
	page, err := Parse(string(raw))
	if err != nil {
		return Page{}, fmt.Errorf("cannot read guide %q: %w", path, err)
	}
	page.Path = path
	return page, nil
}

// Parse reads a page.
func Parse(text string) (Page, error) {
	var page Page
	var next, open Block
	inside, indent := false, ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \n")
		trimmed := strings.TrimSpace(line)
		language, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case inside && fence:
			inside = false
			if slices.Contains([]string{"console", "sh", "yaml"}, open.Language) {
				page.Blocks = append(page.Blocks, open)
			} else if open.NotRun != "" || len(open.First) > 0 {
				return Page{}, fmt.Errorf("line %d: a block of the language %q is never run: remove the comment", open.Line, open.Language)
			}
		case inside:
			open.Text += strings.TrimPrefix(line, indent) + "\n"
		case fence:
			indent, inside = strings.TrimSuffix(line, trimmed), true
			open, next = next, Block{}
			open.Line, open.Language = number, language
		default:
			if err := direct(&next, trimmed); err != nil {
				return Page{}, fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
	switch {
	case inside:
		return Page{}, fmt.Errorf("line %d: the block does not end", open.Line)
	case next.NotRun != "" || len(next.First) > 0:
		return Page{}, errors.New("a comment about a block is not followed by a block")
	}
	return page, nil
}

// direct takes a line between blocks: a comment about the next block, or something else, which no such comment may precede.
func direct(b *Block, line string) error {
	match := directive.FindStringSubmatch(line)
	switch {
	case match == nil && line != "" && (b.NotRun != "" || len(b.First) > 0):
		return errors.New("a comment about a block is not followed by a block")
	case match == nil:
	case match[1] == "not run":
		b.NotRun = match[2]
	default:
		b.First = append(b.First, match[2])
	}
	return nil
}
