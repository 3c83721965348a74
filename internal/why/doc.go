// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package why explains why pods of a pool are missing, from the objects around them. It is pure: it reads no cluster and no
// clock, and the order of the objects does not change its answer.
//
// It names a cause only if the objects prove it. Otherwise it says nothing, and callers fall back to what Kubernetes says.
package why
