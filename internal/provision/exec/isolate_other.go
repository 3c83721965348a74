// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package exec

import "errors"

// CanIsolate returns why this machine cannot isolate tools: only Linux has what it takes.
func CanIsolate() error { return errors.New("only Linux can isolate tools") }

func restrict(*access) error { return CanIsolate() }
