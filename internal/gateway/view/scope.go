// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
)

// Scope is the part of a kind that a caller may see: all of it, or the objects of some namespaces. The zero value is nothing.
type Scope struct {
	// All is true for every object of the kind.
	All bool
	// Namespaces whose objects are in the scope.
	Namespaces map[string]struct{}
}

// InNamespaces returns the scope of the namespaces.
func InNamespaces(names ...string) Scope {
	out := Scope{Namespaces: make(map[string]struct{}, len(names))}
	for _, name := range names {
		out.Namespaces[name] = struct{}{}
	}
	return out
}

// Admits reports whether the objects of the namespace are in the scope.
func (s Scope) Admits(namespace string) bool {
	if s.All {
		return true
	}
	_, in := s.Namespaces[namespace]
	return in
}

// Empty reports whether nothing is in the scope.
func (s Scope) Empty() bool { return !s.All && len(s.Namespaces) == 0 }

// Names returns the namespaces of the scope in order.
func (s Scope) Names() []string { return slices.Sorted(maps.Keys(s.Namespaces)) }
