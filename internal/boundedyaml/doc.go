// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package boundedyaml decodes YAML that comes from outside without using more memory than its limits allow.
//
// A YAML document of a few kilobytes can expand to gigabytes: an alias repeats an anchored value, and anchored values can
// have aliases of their own. Every function here first measures the document as it is after expansion and refuses it with a
// *LimitError before anything is expanded. Anchors and aliases within the limits work as usual.
//
// The package is pure and imports nothing of Windlass.
package boundedyaml
