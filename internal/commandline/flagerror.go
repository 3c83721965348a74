// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package commandline

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ExplainFlag says what is wrong with a flag in the words of the command line: pflag repeats what the parser of a number says in Go.
func ExplainFlag(command *cobra.Command, err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return suggestFlag(command, err)
	}
	flag := invalid.GetFlag()
	var wanted string
	switch flag.Value.Type() {
	case "int", "int32", "float64", "level":
		wanted = "a number"
	case "bool":
		wanted = "true or false"
	case "duration":
		wanted = "a duration, as in 30s or 10m"
	case "stringToString":
		wanted = "a list of name=value"
	default:
		return err
	}
	return fmt.Errorf("--%s is %q: it must be %s", flag.Name, invalid.GetValue(), wanted)
}
