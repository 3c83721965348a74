// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diff says which fields of an object a write changes, and who owned them. It is pure.
//
//   - difference.go: what is told about a write
//   - compare.go: finds the fields that differ
//   - owners.go: reads managedFields: who owns a field, and by which keys the items of a list are told apart
package diff
