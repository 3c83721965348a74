// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
)

// Limits of a query.
const (
	// MaxSelector bounds selectors and search words, in bytes.
	MaxSelector = 4096
	// MaxContinue bounds the token of the next page, in bytes.
	MaxContinue = 2048
)

// Orders of a list.
const (
	// SortName orders by namespace and name, which is the default.
	SortName = "name"
	// SortCreated puts the oldest first.
	SortCreated = "created"
	// SortNewest puts the newest first.
	SortNewest = "-created"
)

// Query selects the objects that match all of its conditions, in an order, a page at a time.
type Query struct {
	labels labels.Selector
	fields fields.Selector
	words  []string
	sort   string
	limit  int
	after  *cursor
	owner  types.UID
}

// Fields of every kind.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// cursor is the last object of a page: the next page begins after it, even if objects came or went in between.
type cursor struct {
	Sort      string    `json:"s"`
	Namespace string    `json:"ns,omitempty"`
	Name      string    `json:"n"`
	Created   time.Time `json:"c,omitzero"`
}

// ParseQuery reads a query. It returns all errors, joined.
func ParseQuery(labelSelector, fieldSelector, q, sort string, limit int, after string) (*Query, error) {
	var errs []error
	query := &Query{words: strings.Fields(strings.ToLower(q)), sort: cmp.Or(sort, SortName), limit: limit}
	if len(labelSelector)+len(fieldSelector)+len(q) > MaxSelector {
		return nil, &FieldError{Location: "query", Message: fmt.Sprintf("selectors and q together must not be longer than %d bytes", MaxSelector)}
	}
	var err error
	if query.labels, err = labels.Parse(labelSelector); err != nil {
		errs = append(errs, &FieldError{Location: "query.labelSelector", Message: err.Error()})
	}
	if query.fields, err = fields.ParseSelector(fieldSelector); err != nil {
		errs = append(errs, &FieldError{Location: "query.fieldSelector", Message: err.Error()})
	}
	if !slices.Contains([]string{SortName, SortCreated, SortNewest}, query.sort) {
		errs = append(errs, &FieldError{Location: "query.sort", Message: "must be name, created or -created", Code: FieldNotSupported})
	}
	if after != "" {
		if query.after, err = parseCursor(after); err != nil || query.after.Sort != query.sort {
			errs = append(errs, &FieldError{
				Location: "query.continue", Message: "is not a token of this list: start again without it, and keep the value of sort",
			})
		}
	}
	return query, errors.Join(errs...)
}

func parseCursor(token string) (*cursor, error) {
	if len(token) > MaxContinue {
		return nil, errors.New("cannot decode the token: too long")
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, fmt.Errorf("cannot decode the token: %w", err)
	}
	out := &cursor{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("cannot decode the token: %w", err)
	}
	return out, nil
}

// item returns what is ordered as the last object of the page.
func (c *cursor) item() *Item {
	return &Item{Namespace: c.Namespace, Name: c.Name, Created: c.Created}
}

func (c *cursor) token() string {
	raw, err := json.Marshal(c)
	if err != nil {
		return "" // only a time after the year 9999 cannot be encoded
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// KnowsFields reports whether items of the kind have all fields of the query. The API server knows more fields.
func (q *Query) KnowsFields(k *Kind) bool {
	known := append([]string{fieldName, fieldNamespace}, selectable(k.GVK.Kind)...)
	for _, requirement := range q.fields.Requirements() {
		if !slices.Contains(known, requirement.Field) {
			return false
		}
	}
	return true
}

// OwnedBy makes the query select only objects with that owner; any object if the UID is empty.
func (q *Query) OwnedBy(uid types.UID) { q.owner = uid }

// Selects reports whether the query filters by words or has an order of its own.
func (q *Query) Selects() bool { return len(q.words) > 0 || q.sort != SortName }

// Page is a part of a list.
type Page struct {
	// Items of the page.
	Items []*Item
	// Continue is the token of the next page, empty on the last one.
	Continue string
	// Remaining is how many come after this page.
	Remaining int
}

// Select returns the page of the items, which are ordered by namespace and name, that the query asks for. It does not
// change them.
func (q *Query) Select(items []*Item) Page {
	if q.everything() {
		return Page{Items: items}
	}
	out := make([]*Item, 0, min(len(items), 1024))
	for _, item := range items {
		if q.matches(item) {
			out = append(out, item)
		}
	}
	order := q.order()
	if q.sort != SortName {
		slices.SortFunc(out, order)
	}
	if q.after != nil {
		begin, found := slices.BinarySearchFunc(out, q.after.item(), order)
		if found {
			begin++
		}
		out = out[begin:]
	}
	if q.limit <= 0 || q.limit >= len(out) {
		return Page{Items: out}
	}
	return Page{Items: out[:q.limit], Continue: q.next(out[q.limit-1]), Remaining: len(out) - q.limit}
}

// next returns the token of the page that begins after the item.
func (q *Query) next(last *Item) string {
	next := &cursor{Sort: q.sort, Namespace: last.Namespace, Name: last.Name}
	if q.sort != SortName {
		next.Created = last.Created
	}
	return next.token()
}

func (q *Query) everything() bool {
	return q.labels.Empty() && q.fields.Empty() && len(q.words) == 0 && q.owner == "" && q.sort == SortName && q.after == nil && q.limit <= 0
}

func (q *Query) matches(item *Item) bool {
	if !q.labels.Matches(item.Labels) {
		return false
	}
	if !q.matchesFields(item) || q.owner != "" && !slices.Contains(item.Owners, q.owner) {
		return false
	}
	for _, word := range q.words {
		if !strings.Contains(item.search, word) {
			return false
		}
	}
	return true
}

// matchesFields reports whether the item has the fields of the query. The API server has selected by those that an item does
// not have.
func (q *Query) matchesFields(item *Item) bool {
	for _, requirement := range q.fields.Requirements() {
		var value string
		switch requirement.Field {
		case fieldName:
			value = item.Name
		case fieldNamespace:
			value = item.Namespace
		default:
			var known bool
			if value, known = item.Fields[requirement.Field]; !known {
				continue
			}
		}
		if (value == requirement.Value) == (requirement.Operator == selection.NotEquals) {
			return false
		}
	}
	return true
}

// order compares by time first where the query says so; names make it total.
func (q *Query) order() func(a, b *Item) int {
	switch q.sort {
	case SortCreated:
		return func(a, b *Item) int { return cmp.Or(a.Created.Compare(b.Created), Compare(a, b)) }
	case SortNewest:
		return func(a, b *Item) int { return cmp.Or(b.Created.Compare(a.Created), Compare(a, b)) }
	default:
		return Compare
	}
}
