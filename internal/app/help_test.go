// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpSaysWhatFlagsTake is about placeholders that were types of Go, and defaults that were given twice.
func TestHelpSaysWhatFlagsTake(t *testing.T) {
	t.Parallel()
	var check func(command *cobra.Command)
	check = func(command *cobra.Command) {
		command.InitDefaultHelpFlag()
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if takes, _ := pflag.UnquoteUsage(flag); slices.Contains([]string{"string", "strings", "int", "float", "value", "stringToString"}, takes) {
				t.Errorf("%s --%s takes a %q", command.CommandPath(), flag.Name, takes)
			}
			one := pflag.NewFlagSet("", pflag.ContinueOnError)
			one.AddFlag(flag)
			if usage := one.FlagUsages(); strings.Count(usage, "(default") > 1 {
				t.Errorf("%s --%s has two defaults:\n%s", command.CommandPath(), flag.Name, usage)
			}
		})
		for _, child := range command.Commands() {
			check(child)
		}
	}
	check(NewCommand())
}
