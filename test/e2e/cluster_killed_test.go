// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// killedAt are the steps of the tool in which the manager is killed. Those that are unseen end while there is no manager.
var killedAt = []struct {
	name   string
	unseen bool
}{{"tunnels", false}, {"etcd", true}, {"controlplane", false}, {"addons", true}}

// TestAManagerKilledAtEveryStep kills the manager in each step of bringing a cluster up, and of removing it. The tool goes on without,
// is found again, and is called once for each.
func TestAManagerKilledAtEveryStep(t *testing.T) {
	c := need(t)
	state := filepath.Join(t.TempDir(), "runs")
	args := c.scriptedTool(t, state)
	s := c.scriptedIn(t, "killed", t.TempDir())
	scripts := map[string]string{"up": "", "remove": ""}
	for _, step := range killedAt {
		for action := range scripts {
			s.gates(t, action+"-"+step.name)
			scripts[action] += "step " + action + "-" + step.name + "\n"
		}
	}
	s.write(t, "up.sh", scripts["up"]+upWorks)
	s.write(t, "remove.sh", scripts["remove"]+removeWorks)

	m := c.startManager(t, args...).ready()
	s.create(t)
	m = s.killedInEach(t, m, "up", args)
	found := s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	if last := found.Status.LastOperation; last.Attempt != 1 || last.Reason != "" {
		t.Errorf("the last operation is %+v, want the first and only up", last)
	}
	s.called(t, "up")

	c.do(t, "delete", "clusters.clusterprovisioner.rke.io", s.name, "--wait=false")
	s.killedInEach(t, m, "remove", args)
	eventually(t, "the Cluster is gone", func(ctx context.Context) error {
		err := c.Client.Get(ctx, client.ObjectKey{Name: s.name}, &clusterprovisionerv1alpha1.Cluster{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there (%w)", err)
	})
	s.called(t, "up", "remove")
	if left, err := os.ReadDir(state); err != nil || len(left) > 0 {
		t.Errorf("the Cluster is gone and %v is left of its runs (%v)", left, err)
	}
	if left := processesNaming(t, s.dir); len(left) > 0 {
		t.Errorf("the Cluster is gone and %q are left", left)
	}
}

// killedInEach kills the manager in each step of an action, and returns the last one that was started.
func (s *scripted) killedInEach(t *testing.T, m *manager, action string, args []string) *manager {
	t.Helper()
	for _, step := range killedAt {
		release := s.reaches(t, action+"-"+step.name)
		m.kill()
		if step.unseen {
			release()
		}
		m = s.startManager(t, args...).ready()
		if !step.unseen {
			// It has found the run of its predecessor before the tool goes on.
			s.describes(t, fmt.Sprintf("[%s] %s-%s", action, action, step.name))
			release()
		}
	}
	return m
}
