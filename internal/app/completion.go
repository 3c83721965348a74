// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/windlass-operator/windlass/internal/config"
)

// complete offers the values of those flags that take one of a few. Flags that take files complete by themselves.
func complete(command *cobra.Command) {
	values := config.FlagValues()
	values["controllers"] = append(controllerNames(), config.All)
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		known, ok := values[flag.Name]
		if !ok {
			return
		}
		// It fails only for a flag that does not exist, or that has values already.
		_ = command.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
	})
}
