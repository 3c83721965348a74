// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"github.com/spf13/cobra"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/action"
)

func (p *plugin) newRetryCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "retry cluster/NAME",
		Short:   "Have the tool of a Cluster run again, now",
		Long:    "Sets the annotation clusterprovisioner.rke.io/retry of a Cluster: the tool runs again, whatever the state of the Cluster.",
		Example: "  kubectl windlass retry cluster/east",
	}
	return actsOn(p, command, addChange(command), only("clusters"), func(of target) (*edit[*clusterprovisionerv1alpha1.Cluster], error) {
		return &edit[*clusterprovisionerv1alpha1.Cluster]{
			of: of, done: "is to be tried again",
			make:   func(cluster *clusterprovisionerv1alpha1.Cluster) error { return action.Retry(cluster, p.Now()) },
			ending: true, // a removal is repeated as well
		}, nil
	})
}
