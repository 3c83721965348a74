// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table makes the tables of kubectl get from objects that a store has, without asking the API server. What a column of a kind of
// Windlass shows is a path in its CRD; for the kinds of Kubernetes it is what the API server's printers show, and tests hold both
// against the API server. A row is made once per version of an object; only ages are filled in for each reader.
package table
