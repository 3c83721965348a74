// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inquiry reads what explanations and previews need, with the rights of the caller, and asks the engines that are pure. The HTTP
// API reads from its stores and the kubectl plugin from the API server: each is a Source, so that both give the same answer.
package inquiry
