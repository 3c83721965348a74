// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// misuse is an error about how a command was called. Errors before a command begins are such errors as well.
type misuse struct{ error }

// Unwrap returns the error.
func (m misuse) Unwrap() error { return m.error }

// misused returns an error about how a command was called.
func misused(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// takes returns a check of the number of arguments, which says how the command is called.
func takes(least, most int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		call := command.CommandPath() + strings.TrimPrefix(command.Use, command.Name())
		switch {
		case len(args) < least:
			return misused("an argument is missing: the call is %s", call)
		case len(args) > most:
			return misused("%q is an argument too many: the call is %s", args[most], call)
		}
		return nil
	}
}

// refuseEmpty returns an error for a flag of the command that was given and is empty, as by a script whose variable is: it would count as one
// that was left out, and approve whatever plan there is. The flags of kubectl, which all commands have, are as kubectl takes them.
func refuseEmpty(command *cobra.Command) error {
	var err error
	command.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && flag.Value.Type() == "string" && flag.Value.String() == "" {
			err = misused("--%s is empty: give it a value, or leave it out", flag.Name)
		}
	})
	return err
}
