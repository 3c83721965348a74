// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
)

func (p *plugin) newApproveCommand() *cobra.Command {
	var plan string
	command := &cobra.Command{
		Use:   "approve cluster/NAME",
		Short: "Approve the plan of a Cluster",
		Long: "Shows the plan of a Cluster with spec.approval: Manual, asks, and sets the annotation clusterprovisioner.rke.io/approve to the id\n" +
			"of that very plan: another one is never approved. With --yes, --plan approves only the one that you have seen.",
		Example: "  kubectl windlass approve cluster/east\n" +
			"  kubectl windlass approve cluster/east --plan 0f3c9a1be2d4 --yes",
	}
	command.Flags().StringVar(&plan, "plan", "", "the `id` of the plan that you have seen. The default is the one that is shown")
	with := addChange(command).addConsent(command)
	return actsOn(p, command, with, only("clusters"), func(of target) (*edit[*clusterprovisionerv1alpha1.Cluster], error) {
		return &edit[*clusterprovisionerv1alpha1.Cluster]{
			of: of, done: "approved", ask: planOf,
			make: func(cluster *clusterprovisionerv1alpha1.Cluster) error {
				if plan == "" && cluster.Status.Plan != nil {
					plan = cluster.Status.Plan.ID // which stays if the object changes meanwhile
				}
				return action.Approve(cluster, action.ApproveRequest{Plan: plan})
			},
		}, nil
	})
}

// planOf returns the plan of a Cluster as text, and the question about it.
func planOf(cluster *clusterprovisionerv1alpha1.Cluster) (shown, question string) {
	plan := cluster.Status.Plan
	out := &strings.Builder{}
	fmt.Fprintf(out, "Plan %s of Cluster %s:\n", plan.ID, cluster.Name)
	for line := range strings.Lines(plan.Summary) {
		fmt.Fprintf(out, "  %s\n", strings.TrimRight(line, "\n"))
	}
	if plan.Destructive {
		out.WriteString("Something may be lost: a node is removed, a network changes, or a version goes back.\n")
	}
	return out.String(), "Approve this plan?"
}
