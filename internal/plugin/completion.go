// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
)

// CompletionArgs returns the arguments that make the plugin answer what kubectl asks a program "kubectl_complete-windlass": what can
// follow these arguments.
func CompletionArgs(args []string) []string {
	return append([]string{cobra.ShellCompRequestCmd}, args...)
}

const completionText = `kubectl completes this plugin by itself where a program "kubectl_complete-windlass" is in the PATH. It is the same
program under another name:

  ln -s "$(command -v kubectl-windlass)" "$(dirname "$(command -v kubectl-windlass)")/kubectl_complete-windlass"

`

func (p *plugin) newCompletionCommand() *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes the arguments of kubectl-windlass in a shell",
		Long: completionText + "The script of this command is for those who call kubectl-windlass directly. For bash:\n\n" +
			"  source <(kubectl windlass completion bash)",
		Args:      cobra.MatchAll(takes(1, 1), cobra.OnlyValidArgs),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), p.Streams.Out
			// In the script the program has the name of its file.
			delete(root.Annotations, cobra.CommandDisplayNameAnnotation)
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			case "zsh":
				return root.GenZshCompletion(out)
			}
			return fmt.Errorf("cannot write a script for the shell %q", args[0])
		},
	}
}

// completeFlags offers the values of kubectl's flags that the kubeconfig or the cluster knows.
func (p *plugin) completeFlags(root *cobra.Command) {
	offer := func(flag string, values func(cmd *cobra.Command) []string) {
		// It fails only for a flag that does not exist.
		_ = root.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return values(cmd), cobra.ShellCompDirectiveNoFileComp
		})
	}
	offer(clientcmd.FlagContext, func(*cobra.Command) []string { return p.access.contexts() })
	offer(clientcmd.FlagNamespace, func(cmd *cobra.Command) []string { return p.namespaces(cmd.Context()) })
}
