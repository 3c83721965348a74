// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Finalizer is on every VirtualMachine before the first call of a driver. One that a user has set is honoured like our own.
const Finalizer = "finalizer.cloudnative.tw"

// PlacementAnnotation holds "driver/host": where the machine is, for ever. It is written together with the finalizer, before
// anything is made there, and is what counts when the status is lost.
const PlacementAnnotation = "cloudnative.tw/placement"

// DefaultImage is what a container is made from when spec.image.name is empty.
const DefaultImage = "nginx:1.17.4"

// MaxAddresses and MaxPorts are how many addresses and ports the status shows at most.
const (
	MaxAddresses = 16
	MaxPorts     = 64
)
