// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docker is the driver for hosts with a Docker Engine, or anything that speaks its API. A machine is a container.
//
// A container is ours by its labels and by nothing else: installation and UID of the VirtualMachine. Its name is the
// VirtualMachine's where that is free, so that people find it, and namespace, name and the start of the UID where it is not;
// the driver never looks for it. Labels can be inherited (an image that was committed from a machine has them all), so
// every container also has an incarnation that no image knows beforehand: one that shares it with its image is a copy,
// belongs to somebody else and is left alone.
//
// The restart policy of a container is always "no": whether a machine is started again is not for the engine to decide.
package docker
