// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the NodePool kind: a named set of nodes that share labels, taints and a RuntimeClass.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=nodes.lailin.xyz
package v1
