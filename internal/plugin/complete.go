// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import "github.com/spf13/cobra"

// takesObject makes the shell offer objects of these kinds as the command's argument.
func (p *plugin) takesObject(command *cobra.Command, among []*kind) {
	offer := p.completeObjects(among)
	command.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd.Context(), typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
