// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// TestARemovalThatReachedNoMachineEndsOnceThatIsAccepted is about tools, RKE among them, that fail where no machine answers. A machine
// that the tool did reach is never given up, whatever has been accepted.
func TestARemovalThatReachedNoMachineEndsOnceThatIsAccepted(t *testing.T) {
	const (
		second  = "- {address: 127.0.0.2, hostname_override: two, role: [worker]}\n"
		no1     = "Failed to set up SSH tunneling for host [127.0.0.1]"
		no2     = "Failed to set up SSH tunneling for host [127.0.0.2]"
		unknown = "nobody knows why"
	)
	for name, test := range map[string]struct {
		// applied is the configuration that the cluster has, left the one that the file has when it is removed, said how that fails.
		applied, left, said string
		gone                bool
	}{
		"its only machine did not answer":                  {applied: configText, left: configText, said: no1, gone: true},
		"neither of its machines answered":                 {applied: configText + second, left: configText + second, said: no1 + " " + no2, gone: true},
		"one of its machines answered":                     {applied: configText + second, left: configText + second, said: no1},
		"a machine that the file no longer names answered": {applied: configText + second, left: configText, said: no1},
		"a machine that was added was never worked on":     {applied: configText, left: configText + second, said: no1, gone: true},
		"nobody knows which machines it has":               {applied: "hosts: [127.0.0.1]\n", left: "hosts: [127.0.0.1]\n", said: no1},
		"it failed for another reason":                     {applied: configText, left: configText, said: unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.file("cluster.yml", test.applied)
			s.create(quick)
			s.ready()
			s.file("cluster.yml", test.left)
			s.file("remove.fails", strings.Repeat(test.said+"\n", 2))
			s.delete()
			reason := clusterprovisionerv1alpha1.ReasonSSHTunnel
			if test.said == unknown {
				reason = clusterprovisionerv1alpha1.ReasonUnknown
			}
			s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after "+reason+": FATA[0002] "+test.said)
			s.edit(annotate(clusterprovisionerv1alpha1.AcceptSkippedAnnotation, "true"))
			if test.gone {
				s.gone()
				if got := s.calls(); got != "1 up, 1 remove" {
					t.Errorf("the tool was called for %q", got)
				}
				return
			}
			s.settled()
			s.until("it is removed after all", func() bool { s.later(); return !s.Get(t, s.cluster) })
			if got := s.calls(); got != "1 up, 3 remove" {
				t.Errorf("the tool was called for %q", got)
			}
		})
	}
}

// TestARemovalWaitsAlthoughAPersonAsksForIt has somebody mend what a removal failed at, and ask for it again.
func TestARemovalWaitsAlthoughAPersonAsksForIt(t *testing.T) {
	s := newStage(t)
	s.file("cluster.yml", configText)
	s.create()
	s.ready()
	s.file("remove.fails", "no\n")
	s.delete()
	s.becomes(status.Reconciling, "True Retrying: waiting for attempt 2 after Unknown: FATA[0002] no")
	s.edit(annotate(clusterprovisionerv1alpha1.RetryAnnotation, "1"))
	s.gone()
	if got := s.calls(); got != "1 up, 2 remove" {
		t.Errorf("the tool was called for %q", got)
	}
}

// TestADeletionThatIsPausedBlamesTheLastRun: Ready told what the run before had failed at, and nobody who saw the deletion hang learned of the pause.
func TestADeletionThatIsPausedBlamesTheLastRun(t *testing.T) {
	s := newStage(t)
	s.file("cluster.yml", configText)
	s.file("up.fails", "no\n")
	s.create()
	s.until("a run has failed", func() bool { last := s.cluster.Status.LastOperation; return last != nil && last.Reason != "" })
	s.edit(annotate(status.PausedAnnotation, "true"))
	s.delete()
	s.becomes(status.Ready, "False Paused: waiting for the annotation windlass.io/paused to be removed")
}
