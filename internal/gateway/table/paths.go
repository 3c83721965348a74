// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// Types of columns that a CRD can declare, besides string.
const (
	typeInteger = "integer"
	typeNumber  = "number"
	typeBoolean = "boolean"
	typeString  = "string"
	typeDate    = "date"
)

// paths prints objects by the paths of the columns in their CRD.
type paths struct {
	columns []view.TableColumn
	// mu guards the parsed paths, which remember where they are while they search.
	mu     sync.Mutex
	parsed []*jsonpath.JSONPath // nil for the name, which is no column of the CRD
}

func newPaths(columns []view.TableColumn) (*paths, error) {
	out := &paths{columns: columns, parsed: make([]*jsonpath.JSONPath, len(columns))}
	for i := range columns {
		if columns[i].Path == "" {
			continue
		}
		out.parsed[i] = jsonpath.New(columns[i].Name).AllowMissingKeys(true)
		if err := out.parsed[i].Parse("{" + columns[i].Path + "}"); err != nil {
			return nil, fmt.Errorf("cannot read the path of the column %q: %w", columns[i].Name, err)
		}
	}
	return out, nil
}

// cells returns what a table shows of the object.
func (p *paths) cells(item *view.Item) ([]cell, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(item.JSON, &object); err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", item.Key(), err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	cells := make([]cell, len(p.columns))
	for i := range p.columns {
		if p.parsed[i] == nil {
			cells[i] = value(item.Name)
			continue
		}
		cells[i] = p.cell(i, object)
	}
	return cells, nil
}

// cell returns the first value at the path, null if it is absent or of another type than the column.
func (p *paths) cell(column int, object map[string]any) cell {
	found, err := p.parsed[column].FindResults(object)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return value(nil)
	}
	first := found[0][0]
	if p.columns[column].Type == typeString {
		var printed bytes.Buffer
		if err := p.parsed[column].PrintResults(&printed, []reflect.Value{reflect.ValueOf(first.Interface())}); err != nil {
			return value(nil)
		}
		return value(printed.String())
	}
	return typed(p.columns[column].Type, first.Interface())
}

// typed returns a cell with a value of the type.
func typed(columnType string, of any) cell {
	switch of := of.(type) {
	case int64:
		if columnType == typeInteger || columnType == typeNumber {
			return value(of)
		}
	case float64:
		switch columnType {
		case typeInteger:
			return value(int64(of))
		case typeNumber:
			return value(of)
		}
	case bool:
		if columnType == typeBoolean {
			return value(of)
		}
	case string:
		if columnType != typeDate {
			break
		}
		var at metav1.Time
		if err := at.UnmarshalQueryParameter(of); err != nil {
			return value("<invalid>")
		}
		return age(at.Time)
	}
	return value(nil)
}
