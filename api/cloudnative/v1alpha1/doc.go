// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the VirtualMachine kind: a container or a guest that a driver runs on a host.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=cloudnative.tw
package v1alpha1
