// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Finalizer is on every VirtualMachine before a driver is called for the first time. If a user has set it, it counts as well.
const Finalizer = "finalizer.cloudnative.tw"

// PlacementAnnotation was the record of a machine's place, "driver/host", in earlier versions. Now status.server is, which editors
// cannot write. An object without that record waits for the host that the annotation names, and is on it only if the machine is.
const PlacementAnnotation = "cloudnative.tw/placement"

// DefaultImage is the image of a container if spec.image.name is empty.
const DefaultImage = "nginx:1.17.4"

// MaxAddresses and MaxPorts limit how many addresses and ports the status shows.
const (
	MaxAddresses = 16
	MaxPorts     = 64
)

// MaxMadeDisks limits how many disks the status records, as its schema does. A guest has fewer.
const MaxMadeDisks = 64
