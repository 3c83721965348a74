// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metadataList is a list of a kind for a reader of names only.
func metadataList(k *kind) *metav1.PartialObjectMetadataList {
	out := &metav1.PartialObjectMetadataList{}
	out.SetGroupVersionKind(k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List"))
	return out
}

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
