// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package why explains why something is not as it should be, from the objects around it. It is pure: it reads no cluster,
// knows no time, and says the same of the same objects in whatever order they come.
//
// It blames only what the objects prove. Where they prove nothing it says nothing, and the words of Kubernetes stand.
package why
