// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// fillsTheDisk saves its state where there is no room left, as a tool does that opens the file before it writes. It waits until what it
// has printed before is on the disk, so that what it prints afterwards fits beside it.
const fillsTheDisk = `echo "INFO[0000] [state] Saving full cluster state"
until [ -e printed ]; do sleep 0.1; done
: > cluster.rkestate
cat /dev/zero > fill
echo state >> cluster.rkestate && exit 0
echo "FATA[0001] write cluster.rkestate: no space left on device"
exit 1
`

// TestADiskThatIsFull fills a small disk while the tool saves its state. What was saved before survives, and with room it goes on.
func TestADiskThatIsFull(t *testing.T) {
	c := need(t)
	disk := t.TempDir()
	if done := c.Run(t.Context(), "mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "windlass-e2e", disk); done.Code != 0 {
		t.Skipf("needs the right to mount a small disk: %s", done.Err)
	}
	t.Cleanup(func() {
		if done := c.Run(context.WithoutCancel(t.Context()), "umount", disk); done.Code != 0 {
			t.Errorf("cannot take the small disk away: %s", done.Err)
		}
	})
	dir := filepath.Join(disk, "full")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := c.scriptedIn(t, "full", dir)
	c.startManager(t, c.scriptedTool(t, filepath.Join(disk, "runs"))...).ready()
	s.create(t, quickRetry)
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)

	s.write(t, "up.sh", fillsTheDisk)
	s.write(t, "cluster.yml", s.read(t, "cluster.yml")+"ssh_agent_auth: true\n")
	s.describes(t, "Stage", "Saving full cluster state")
	s.write(t, "printed", "")
	s.becomes(t, clusterprovisionerv1alpha1.ConditionDegraded, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonDiskFull)
	s.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionTrue, clusterprovisionerv1alpha1.ReasonApplied)
	s.describes(t, "RunFailed", "o space left on device")

	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	// Without the state that was saved before, the tool would make certificates anew and lose the cluster.
	s.write(t, "up.sh", "cp cluster.rkestate found.rkestate\n"+upWorks)
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	if got := s.read(t, "found.rkestate"); !strings.HasPrefix(got, "state of ") {
		t.Errorf("with room again, the tool found the state %q", got)
	}
	s.remove(t)
}

// TestClustersOnOneTool has three Clusters where two runs may be under way. Each keeps to itself.
func TestClustersOnOneTool(t *testing.T) {
	c := need(t)
	args := append(c.scriptedTool(t, filepath.Join(t.TempDir(), "runs")), "--max-concurrent-operations=2")
	c.startManager(t, args...).ready()
	var all []*scripted
	for _, name := range []string{"one", "two", "three"} {
		s := c.scriptedIn(t, name, t.TempDir())
		s.gates(t, "here")
		s.write(t, "up.sh", "echo \"I am $(grep cluster_name cluster.yml)\"\nstep here\n"+upWorks)
		all = append(all, s)
	}
	one, two, three := all[0], all[1], all[2]
	one.create(t)
	endOne := one.reaches(t, "here")
	two.create(t)
	endTwo := two.reaches(t, "here")
	three.create(t)
	three.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonQueued)
	if _, err := os.Stat(filepath.Join(three.dir, "calls")); !os.IsNotExist(err) {
		t.Errorf("the third is queued and its tool was called (%v)", err)
	}
	endTwo()
	endThree := three.reaches(t, "here")
	two.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	one.becomes(t, clusterprovisionerv1alpha1.ConditionProvisioned, metav1.ConditionFalse, clusterprovisionerv1alpha1.ReasonApplying)
	endThree()
	endOne()
	for _, s := range all {
		s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
		s.called(t, "up")
		log := s.do(t, "get", "configmap", s.name+"-log", "-n", namespace, "-o", "jsonpath={.data.log}")
		if strings.Count(log, "I am") != 1 || !strings.Contains(log, "I am cluster_name: "+s.name+"\n") {
			t.Errorf("the log of %s is\n%s", s.name, log)
		}
		if state := s.read(t, "cluster.rkestate"); !strings.Contains(state, s.dir) {
			t.Errorf("the state of %s is %q", s.name, state)
		}
	}
	for _, s := range all {
		s.remove(t)
	}
}
