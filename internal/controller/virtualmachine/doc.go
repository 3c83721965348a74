// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package virtualmachine keeps a VirtualMachine.
package virtualmachine
