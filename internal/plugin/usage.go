// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usage prints how a command is called: cobra's text without the flags that all commands have, which are kubectl's and would bury the
// others. It is code and not a template of cobra's: a program that can run templates has to keep every exported method of every type.
func usage(command *cobra.Command) error {
	var text strings.Builder
	text.WriteString("Usage:")
	if command.Runnable() {
		text.WriteString("\n  " + command.UseLine())
	}
	if command.HasAvailableSubCommands() {
		text.WriteString("\n  " + command.CommandPath() + " [command]")
	}
	if command.HasExample() {
		text.WriteString("\n\nExamples:\n" + command.Example)
	}
	if command.HasAvailableSubCommands() {
		text.WriteString("\n\nAvailable Commands:")
	}
	for _, sub := range command.Commands() {
		if sub.IsAvailableCommand() {
			_, _ = fmt.Fprintf(&text, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	if flags := command.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		text.WriteString("\n\nFlags:\n" + strings.TrimRight(flags.FlagUsages(), " \n"))
	}
	text.WriteString("\n\n'kubectl windlass options' lists the flags that every command has, which are those of kubectl.\n")
	_, err := fmt.Fprint(command.OutOrStderr(), text.String())
	return err
}
