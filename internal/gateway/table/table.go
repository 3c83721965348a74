// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Parts of a table, in the order in which they are written.
const (
	rowBegin    = `{"cells":[`
	objectBegin = `],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`
	rowEnd      = `}}`
	tableEnd    = "]}\n"
)

// Sizes in bytes: what the cells of most rows need, and one write.
const (
	roomForCells = 256
	writeBuffer  = 64 << 10
)

// Table is a page of objects as a table, in the format of the API server. The metadata of the objects is written from where the store
// keeps it.
type Table struct {
	head []byte
	// metadata is that of the object of each row.
	metadata [][]byte
	// cells has the cells of all rows, and ends where those of each row end.
	cells []byte
	ends  []int
	size  int
	tag   view.Tag
}

// New returns the table of a page at that time. Its objects have the fields.
func (p *Printer) New(version string, page view.Page, now time.Time, fields *view.Projection) (*Table, error) {
	head, err := p.head(version, page)
	if err != nil {
		return nil, err
	}
	out := &Table{
		head: head, metadata: make([][]byte, len(page.Items)), ends: make([]int, len(page.Items)),
		cells: make([]byte, 0, len(page.Items)*roomForCells),
	}
	out.size = len(head) + len(tableEnd) + max(0, len(page.Items)-1)
	for i, item := range page.Items {
		row, err := p.row(item)
		if err != nil {
			return nil, err
		}
		for j := range row.cells {
			if j > 0 {
				out.cells = append(out.cells, ',')
			}
			out.cells = row.cells[j].append(out.cells, now)
		}
		out.metadata[i], out.ends[i] = fields.Metadata(row.metadata), len(out.cells)
		out.size += len(rowBegin) + len(objectBegin) + len(out.metadata[i]) + len(rowEnd)
	}
	out.size += len(out.cells)
	// The tags of the objects stand for their metadata.
	tagged := append(make([]byte, 0, len(head)+len(out.cells)+len(page.Items)*len(view.Tag{})), head...)
	tagged = append(tagged, out.cells...)
	for _, item := range page.Items {
		tagged = append(tagged, item.Tag[:]...)
	}
	out.tag = view.TagOf(tagged)
	return out, nil
}

// head returns a table up to its first row.
func (p *Printer) head(version string, page view.Page) ([]byte, error) {
	shown := make([]view.TableColumn, len(p.columns))
	for i, column := range p.columns {
		column.Path = "" // the API server's tables have none
		shown[i] = column
	}
	head, err := json.Marshal(view.Table{
		Kind: "Table", APIVersion: "meta.k8s.io/v1", Columns: shown, Rows: []view.TableRow{},
		Metadata: view.TableMeta{ResourceVersion: version, Continue: page.Continue, Remaining: int64(page.Remaining)},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot encode a table: %w", err)
	}
	return head[:len(head)-len("]}")], nil // the rows are its last field
}

// Tag returns the tag of the table.
func (t *Table) Tag() view.Tag { return t.tag }

// Size returns how many bytes Write writes.
func (t *Table) Size() int { return t.size }

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, min(writeBuffer, t.size))
	// The buffer keeps an error and returns it from Flush.
	_, _ = out.Write(t.head)
	begin := 0
	for i, metadata := range t.metadata {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.WriteString(rowBegin)
		_, _ = out.Write(t.cells[begin:t.ends[i]])
		_, _ = out.WriteString(objectBegin)
		_, _ = out.Write(metadata)
		_, _ = out.WriteString(rowEnd)
		begin = t.ends[i]
	}
	_, _ = out.WriteString(tableEnd)
	return out.Flush()
}
