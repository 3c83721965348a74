// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/action"
)

func (p *plugin) newAcknowledgeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "acknowledge nodepool/NAME",
		Short: "Let the nodes go that the safety brake of a NodePool holds",
		Long: "Shows what the safety brake of a NodePool holds, asks, and sets the annotation nodes.lailin.xyz/acknowledge to the generation of\n" +
			"the pool that was shown: another change needs another consent.",
		Example: "  kubectl windlass acknowledge nodepool/gpu",
	}
	with := addChange(command).addConsent(command)
	return actsOn(p, command, with, only("nodepools"), func(of target) (*edit[*nodesv1.NodePool], error) {
		var seen int64
		return &edit[*nodesv1.NodePool]{
			of: of, done: "acknowledged",
			ask: func(pool *nodesv1.NodePool) (shown, question string) {
				held := apimeta.FindStatusCondition(pool.Status.Conditions, nodesv1.ConditionSafetyBrake).Message
				return string(folded(held, "  ")) + "\n", fmt.Sprintf("Let these nodes leave NodePool %s?", pool.Name)
			},
			make: func(pool *nodesv1.NodePool) error {
				if seen == 0 {
					seen = pool.Generation // which stays if the object changes meanwhile
				}
				return action.Acknowledge(pool, action.AcknowledgeRequest{Generation: seen})
			},
		}, nil
	})
}
