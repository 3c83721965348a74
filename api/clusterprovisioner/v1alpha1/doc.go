// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds Cluster, a whole Kubernetes cluster that a tool provisions, and Kubeconfig, a way into one.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=clusterprovisioner.rke.io
package v1alpha1
