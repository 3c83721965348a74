// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import "fmt"

// misuse is an error about how a command was called. Errors before a command begins are such errors as well.
type misuse struct{ error }

// Unwrap returns the error.
func (m misuse) Unwrap() error { return m.error }

// misused returns an error about how a command was called.
func misused(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }
