// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// queued is what Reconciling says of a run that waits for a slot.
const queued = "True Queued: waiting for a run of another Cluster to end"

// given returns what the tool was given, call by call.
func (s *stage) given() string {
	raw, _ := os.ReadFile(filepath.Join(s.dir, "given"))
	return string(raw)
}

// TestAClusterThatHasOnlyWaitedRemovesMachines is about a configuration that the tool was never given, because all slots were taken, such as one with the
// addresses of another cluster's machines: deleting the Cluster removed what it describes.
func TestAClusterThatHasOnlyWaitedRemovesMachines(t *testing.T) {
	s := newStage(t)
	free := s.full()
	s.create()
	s.becomes(status.Reconciling, queued)
	s.settled()
	s.delete()
	free()
	s.gone()
	if got := s.calls(); got != "" {
		t.Errorf("the tool was called for %q", got)
	}
}

// TestAQueuedChangeDecidesWhatIsRemoved is about a Cluster that never came up: its removal used a configuration that had only waited for a slot, and the
// machines of the run that failed stayed.
func TestAQueuedChangeDecidesWhatIsRemoved(t *testing.T) {
	const other = "nodes:\n- {address: 127.0.0.66, role: [worker]}\n"
	s := newStage(t)
	s.file("up.fails", "nobody knows why\n")
	s.create(quick)
	s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after Unknown: FATA[0002] nobody knows why")
	free := s.full()
	s.file("cluster.yml", other)
	s.becomes(status.Reconciling, queued)
	s.delete()
	free()
	s.gone()
	if got, want := s.given(), "up\n"+configText+"remove\n"+configText; got != want {
		t.Errorf("the tool was given\n%s\nwant\n%s", got, want)
	}
}

// TestAQueuedChangeIsTakenBack is about a change that had only waited for a slot, and was then taken out of the file again: to run the tool with what was
// applied waited for the approval of a change that nobody had begun.
func TestAQueuedChangeIsTakenBack(t *testing.T) {
	s := newStage(t)
	s.create()
	s.ready()
	free := s.full()
	s.file("cluster.yml", strings.ReplaceAll(configText, "127.0.0.1", "127.0.0.66"))
	s.becomes(status.Reconciling, queued)
	s.file("cluster.yml", configText)
	free()
	s.edit(func(c *clusterprovisionerv1alpha1.Cluster) {
		c.Spec.Approval = clusterprovisionerv1alpha1.ApprovalManual
		annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1")(c)
	})
	s.until("the tool is called again", func() bool {
		if s.is(status.Reconciling, "True WaitingForApproval: …") {
			t.Fatalf("Reconciling is %q", testkit.Condition(s.cluster, status.Reconciling))
		}
		return s.calls() == "2 up"
	})
	s.ready()
}
