// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-operator/windlass/internal/status"
)

// TestACRDThatIsDeletedWaitsForItsClusters deletes the CRD below a Cluster, and the manager with it. The article's operator was caught in
// an endless removal then: its finalizer could not be taken off any more.
func TestACRDThatIsDeletedWaitsForItsClusters(t *testing.T) {
	const crd = "clusters.clusterprovisioner.rke.io"
	c := need(t)
	args := c.scriptedTool(t, filepath.Join(t.TempDir(), "runs"))
	s := c.scriptedIn(t, "crd", t.TempDir())
	s.gates(t, "removing")
	s.write(t, "up.sh", upWorks)
	s.write(t, "remove.sh", "step removing\n"+removeWorks)
	// Other tests need it, whatever comes of this one.
	t.Cleanup(func() {
		eventually(t, "the CRDs are there again", func(ctx context.Context) error {
			ctx = context.WithoutCancel(ctx)
			for _, call := range [][]string{
				{"apply", "--server-side", "-k", filepath.Join(root, "config", "crd")},
				{"wait", "--for=condition=Established", "--timeout=30s", "crd", crd},
				{"get", crd},
			} {
				if done := c.Run(ctx, c.Kubectl, call...); done.Code != 0 {
					return errors.New(done.Err)
				}
			}
			return nil
		})
	})
	m := c.startManager(t, args...).ready()
	s.create(t)
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)

	c.do(t, "delete", "crd", crd, "--wait=false")
	release := s.reaches(t, "removing")
	m.kill()
	m = c.startManager(t, args...).ready()
	if log := m.read(); !strings.Contains(log, "CRDs are being deleted") || !strings.Contains(log, crd) {
		t.Errorf("the log does not tell of the CRD that is being deleted:\n%s", log)
	}
	release()
	eventually(t, "the CRD is gone", func(ctx context.Context) error {
		if done := c.Run(ctx, c.Kubectl, "get", "crd", crd, "-o", "name", "--ignore-not-found"); done.Code != 0 || done.Out != "" {
			return fmt.Errorf("kubectl says %q %q", done.Out, done.Err)
		}
		return nil
	})
	s.called(t, "up", "remove")
	m.kill()
}
