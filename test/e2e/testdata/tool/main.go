// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command tool is the provisioning tool of the contract's suite, as a program of its own for an image.
package main

import (
	"os"

	"github.com/windlass-operator/windlass/internal/provision/contract"
)

func main() { os.Exit(contract.Play(os.Args[1:])) }
