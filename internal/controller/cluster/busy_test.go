// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"testing"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// occupied is a provisioner whose tool still works, although it reports that the last run has ended.
type occupied struct {
	provision.Provisioner
}

func (o *occupied) busy() error { return fmt.Errorf("%w: it works in Pod a/b", provision.ErrBusy) }

// Start implements provision.Provisioner.
func (o *occupied) Start(context.Context, provision.Request) error { return o.busy() }

// Forget implements provision.Provisioner.
func (o *occupied) Forget(context.Context, string) error { return o.busy() }

// TestAClusterWhoseToolWorksOnFails is about a Cluster with Orphan: that its tool still worked was an error of each pass, which waited longer and longer.
func TestAClusterWhoseToolWorksOnFails(t *testing.T) {
	s := newStage(t)
	s.create(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.DeletionPolicy = clusterprovisionerv1alpha1.DeletionOrphan
	})
	s.ready()
	s.r.provisioner = &occupied{Provisioner: s.runner}
	const waits = "another run of the tool to end: it works in Pod a/b"
	s.file("cluster.yml", configText+"# more\naddons: none\n")
	s.becomes(status.Reconciling, "True Applying: waiting for "+waits)
	s.delete()
	s.becomes(status.Reconciling, "True Removing: waiting for "+waits)
	s.settled()
	s.r.provisioner = s.runner
	s.gone()
}
