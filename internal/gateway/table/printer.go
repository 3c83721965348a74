// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	_ "embed" // the columns
	"encoding/json"
	"fmt"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// columns are those of a table of each kind, as the API server has them, with the paths of our CRDs. TestColumns writes them.
//
//go:embed columns.json
var columns []byte

// Columns returns the columns of all kinds.
func Columns() (map[string][]view.TableColumn, error) {
	out := map[string][]view.TableColumn{}
	if err := json.Unmarshal(columns, &out); err != nil {
		return nil, fmt.Errorf("cannot read the columns of the kinds: %w", err)
	}
	return out, nil
}

// Printer makes the rows of one kind.
type Printer struct {
	columns []view.TableColumn
	cells   func(*view.Item) ([]cell, error)
}

// NewPrinter returns the printer of a kind with these columns, and nil for a kind that only the API server prints.
func NewPrinter(kind *view.Kind, columns []view.TableColumn) (*Printer, error) {
	out := &Printer{columns: columns}
	switch kind.Plural { // tests hold it against the API server, so a kind that is added cannot be forgotten
	case "nodes":
		out.cells = typedCells(nodeCells)
	case view.NamespacesPlural:
		out.cells = typedCells(namespaceCells)
	case view.DeploymentsPlural:
		out.cells = typedCells(deploymentCells)
	case view.ServicesPlural:
		out.cells = typedCells(serviceCells)
	case view.PodsPlural:
		out.cells = typedCells(podCells)
	case view.EventsPlural:
		out.cells = typedCells(eventCells)
	default:
		if kind.Uncached {
			return nil, nil
		}
		byPath, err := newPaths(columns)
		if err != nil {
			return nil, err
		}
		out.cells = byPath.cells
	}
	return out, nil
}

// typedCells reads objects of a kind of Kubernetes.
func typedCells[T any](cells func(*T) []cell) func(*view.Item) ([]cell, error) {
	return func(item *view.Item) ([]cell, error) {
		object := new(T)
		if err := json.Unmarshal(item.JSON, object); err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", item.Key(), err)
		}
		return cells(object), nil
	}
}

// row is what a table has of an object.
type row struct {
	cells []cell
	// metadata is a part of the object's JSON.
	metadata []byte
}

// row returns the row of an object, which is made once.
func (p *Printer) row(item *view.Item) (*row, error) {
	made := item.Derive(func() any {
		out, err := p.makeRow(item)
		if err != nil {
			return err
		}
		return out
	})
	if err, failed := made.(error); failed {
		return nil, err
	}
	return made.(*row), nil //nolint:forcetypeassert // it is one or the other
}

func (p *Printer) makeRow(item *view.Item) (*row, error) {
	var object struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(item.JSON, &object); err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", item.Key(), err)
	}
	cells, err := p.cells(item)
	if err != nil {
		return nil, err
	}
	// A part of what is kept anyway takes no memory of its own.
	if at := bytes.Index(item.JSON, object.Metadata); at >= 0 {
		object.Metadata = item.JSON[at : at+len(object.Metadata)]
	}
	return &row{cells: cells, metadata: object.Metadata}, nil
}
