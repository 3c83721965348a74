// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds PodSet, a number of equal pods kept by a Deployment that the PodSet owns, and PodBuggerTool, a
// debugging tool that finds its pods.
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +groupName=apps.jicki.cn
package v1alpha1
