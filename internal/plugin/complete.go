// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import "github.com/spf13/cobra"

// takesObject makes the shell offer objects of these kinds as the command's argument.
func (p *plugin) takesObject(command *cobra.Command, among []*kind) {
	offer := p.completeObjects(among)
	command.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
		case 1: // the kind and the name are two words
			found, err := kindOf(args[0], among)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return p.objectNames(cmd.Context(), found, ""), cobra.ShellCompDirectiveNoFileComp
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd.Context(), typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// takesWordAndObject makes the shell offer words as the first argument, and objects of these kinds as the second one.
func (p *plugin) takesWordAndObject(command *cobra.Command, words []string, among []*kind) {
	p.takesObject(command, among)
	offer := command.ValidArgsFunction
	command.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd, args[1:], typed)
	}
}
