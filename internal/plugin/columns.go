// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// column is a column of a table.
type column struct {
	title string
	// wide columns are shown with -o wide only.
	wide bool
	// flexible columns are cut where the table is wider than the terminal, the last one first.
	flexible bool
	// spare columns are left out where the table is wider than the terminal even so, that with the lowest number first. 0: never.
	spare int
}

// cell is a text of a table, and what it tells.
type cell struct {
	text string
	how  mood
	// mark puts the symbol of a mood before the text.
	mark mood
}

// width is how many columns of a terminal the cell needs.
func (c cell) width() int {
	if c.mark != moodNone {
		return widthOf(c.text) + 2
	}
	return widthOf(c.text)
}

// plain returns cells that tell nothing by their colour.
func plain(texts ...string) []cell {
	out := make([]cell, 0, len(texts))
	for _, text := range texts {
		out = append(out, cell{text: text})
	}
	return out
}

// table is rows under titles.
type table struct {
	columns []column
	rows    [][]cell
}

// add adds a row. Whatever is in a cell, it is one line.
func (t *table) add(cells ...cell) {
	for i := range cells {
		cells[i].text = oneLine(cells[i].text)
	}
	t.rows = append(t.rows, cells)
}

// gap separates columns, as kubectl does.
const gap = 3

// minFlexible is what a cut column keeps.
const minFlexible = 12

// write writes the table. A width of 0 is no limit: nothing is cut in a pipe.
func (t *table) write(out io.Writer, look style, width int, wide bool) error {
	shown := t.shown(wide)
	widths, total := t.widths(shown, width)
	for !wide && width > 0 && total > width {
		least := t.mostSpare(shown)
		if least < 0 {
			break
		}
		shown = slices.Delete(shown, least, least+1)
		widths, total = t.widths(shown, width)
	}
	if err := t.line(out, shown, widths, func(at int) cell { return cell{text: t.columns[at].title} }, look); err != nil {
		return err
	}
	for _, row := range t.rows {
		if err := t.line(out, shown, widths, func(at int) cell { return row[at] }, look); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) shown(wide bool) []int {
	var out []int
	for i, c := range t.columns {
		if wide || !c.wide {
			out = append(out, i)
		}
	}
	return out
}

// mostSpare returns which of the columns is left out first, -1 if none may be.
func (t *table) mostSpare(shown []int) int {
	out := -1
	for i, at := range shown {
		if spare := t.columns[at].spare; spare > 0 && (out < 0 || spare < t.columns[shown[out]].spare) {
			out = i
		}
	}
	return out
}

// widths returns the widths of the columns and of the line: of their longest text, or less where the terminal has less.
func (t *table) widths(shown []int, limit int) (of map[int]int, total int) {
	out := map[int]int{}
	total = -gap
	for _, at := range shown {
		longest := widthOf(t.columns[at].title)
		for _, row := range t.rows {
			longest = max(longest, row[at].width())
		}
		out[at] = longest
		total += longest + gap
	}
	for i := len(shown) - 1; i >= 0 && limit > 0 && total > limit; i-- {
		at := shown[i]
		if !t.columns[at].flexible {
			continue
		}
		cut := min(total-limit, max(0, out[at]-minFlexible))
		out[at] -= cut
		total -= cut
	}
	return out, total
}

func (t *table) line(out io.Writer, shown []int, widths map[int]int, cellAt func(int) cell, look style) error {
	var line strings.Builder
	for i, at := range shown {
		c := cellAt(at)
		text := cut(c.text, widths[at])
		room := widths[at] - widthOf(text)
		if c.mark != moodNone {
			line.WriteString(string(look.mark(c.mark)) + " ")
			room -= 2
		}
		line.WriteString(string(look.paint(c.how, text)))
		if i < len(shown)-1 {
			line.WriteString(strings.Repeat(" ", room+gap))
		}
	}
	_, err := fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	return err
}
