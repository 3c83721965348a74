// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docker is the driver for hosts with a Docker Engine, or with anything that speaks its API. A machine is a container.
//
// The labels of a container decide whether it is ours: installation and UID of the VirtualMachine. Its name is that of the
// VirtualMachine if no other container has it, and otherwise namespace, name and the start of the UID. The driver never searches
// by name. An image that is committed from a machine inherits its labels, and so do containers of that image. Therefore every
// container has an incarnation label that no image can know beforehand: a container that shares it with its image is a copy, and
// not ours.
//
// The restart policy of a container is always "no": runStrategy decides whether a machine is started again, not the engine.
package docker
