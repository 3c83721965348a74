// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// TestAttackAJobOfAnotherNamespaceIsTakenForARun forges the name and the label of a run's Job, where an editor of a namespace can.
func TestAttackAJobOfAnotherNamespaceIsTakenForARun(t *testing.T) {
	s := newStage(t)
	elsewhere := s.options
	elsewhere.Namespace = s.Harness.Namespace(t)
	forged := manifest(elsewhere, request("a", "up-1"), "evil:1")
	s.Create(t, forged)
	if run, err := s.Observe(t.Context(), "a"); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("the run is %+v, %v", run, err)
	}
	s.start(request("a", "up-1"))
	own := s.job("a", "up-1")
	if own.UID == forged.UID || own.Spec.Template.Spec.Containers[0].Image != "rke:1" {
		t.Errorf("the Job is %s with %s", own.UID, own.Spec.Template.Spec.Containers[0].Image)
	}
	if err := s.Forget(t.Context(), "a"); !errors.Is(err, provision.ErrBusy) {
		t.Error(err)
	}
	if !s.Get(t, forged) || !forged.DeletionTimestamp.IsZero() {
		t.Error("the Job of another namespace was deleted")
	}
}

// TestAttackAPodWithTheLabelAnswersForARun puts a Pod of the same label beside that of the run.
func TestAttackAPodWithTheLabelAnswersForARun(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", nil)
	s.answers(Report{Run: provision.Run{Phase: provision.Succeeded}})
	s.follow(t.Context(), s.job("a", "up-1"))
	if run := s.observe("a"); run.Phase != provision.Running || s.asked.Load() != 0 {
		t.Errorf("the run is %+v, and %d Pods were asked", run, s.asked.Load())
	}
}

// TestAttackAPodTellsMoreThanFits has a tool that took over what reports, and sends without an end.
func TestAttackAPodTellsMoreThanFits(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", s.job("a", "up-1"))
	written := 0
	s.says = func(out io.Writer) error {
		for {
			n, err := out.Write(bytes.Repeat([]byte("x"), 32<<10))
			written += n
			if err != nil {
				return errors.New("the stream was closed") // as a transport says it, without the cause
			}
		}
	}
	s.follow(t.Context(), s.job("a", "up-1"))
	run := s.observe("a")
	if run.Phase != provision.Failed || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonStateLost || run.Failure.Retryable || written > maxPacked {
		t.Errorf("the run is %+v with %+v, and %d bytes were read", run, run.Failure, written)
	}
}

// TestAttackAPodForgesItsReport has a tool that took over what reports, and tells of another run, in the future, without bounds.
func TestAttackAPodForgesItsReport(t *testing.T) {
	s := newStage(t)
	s.start(request("a", "up-1"))
	s.runs("a", s.job("a", "up-1"))
	s.answers(Report{
		Run: provision.Run{
			ID: "up-9", Action: provision.Remove, Phase: provision.Failed, EndedAt: time.Now().Add(1000 * time.Hour),
			Stage: strings.Repeat("s", 1<<20), Log: strings.Repeat("l", 1<<20) + "\npassword: hunter22\n",
			Skipped: append(make([]string, 10_000), "b", "a", "b"), // the status takes each once
			Failure: &provision.Failure{Reason: "No Such Reason!", Message: strings.Repeat("m", 1<<20)},
		},
	})
	s.follow(t.Context(), s.job("a", "up-1"))
	run := s.observe("a")
	if run.ID != "up-1" || run.Action != provision.Up || run.EndedAt.After(time.Now()) ||
		run.Failure.Reason != clusterprovisionerv1alpha1.ReasonUnknown {
		t.Errorf("the run is %s %s, ended at %s, with %s", run.ID, run.Action, run.EndedAt, run.Failure.Reason)
	}
	if len(run.Log) > provision.MaxLog || len(run.Stage) > maxText || len(run.Failure.Message) > maxText || !slices.Equal(run.Skipped, []string{"a", "b"}) {
		t.Errorf("the log has %d bytes, the stage %d, the message %d, and skipped are %.100q", len(run.Log), len(run.Stage), len(run.Failure.Message), run.Skipped)
	}
	if strings.Contains(run.Log, "hunter22") {
		t.Error("a password shows")
	}
}

// TestAttackASecretOfSomebodyElseIsTakenForARun puts a Secret where the run's would be.
func TestAttackASecretOfSomebodyElseIsTakenForARun(t *testing.T) {
	s := newStage(t)
	// As the one that a Cluster names for its kubeconfig would be labelled.
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: secretName("a"), Labels: map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: "a"},
	}}
	s.Create(t, secret)
	if err := s.Start(t.Context(), request("a", "up-1")); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
		t.Errorf("the start ended with %v", err)
	}
	if err := s.Forget(t.Context(), "a"); err == nil || !s.Get(t, secret) {
		t.Errorf("the Secret was forgotten: %v", err)
	}
}

// TestAttackAReportExpandsToGigabytes has a Pod send a little that becomes much.
func TestAttackAReportExpandsToGigabytes(t *testing.T) {
	t.Parallel()
	packed, err := pack(strings.Repeat("0", 4*maxUnpacked))
	if err != nil {
		t.Fatal(err)
	}
	var told Report
	if err := unpack(packed, &told); err == nil {
		t.Error("it was read")
	}
}

// TestARemovalThatLeftTooMuchIsRepeatedForEver is about what nobody needs any more: the removal counted as failed.
func TestARemovalThatLeftTooMuchIsRepeatedForEver(t *testing.T) {
	t.Parallel()
	for action, want := range map[provision.Action]provision.Phase{provision.Up: provision.Failed, provision.Remove: provision.Succeeded} {
		got := tooLarge(&Report{Run: provision.Run{Action: action, Phase: provision.Succeeded}, Left: &provision.Artifacts{}})
		if got.Run.Phase != want || (got.Run.Failure == nil) != (want == provision.Succeeded) || got.Left != nil {
			t.Errorf("%s is %s with %+v, want %s", action, got.Run.Phase, got.Run.Failure, want)
		}
	}
}

// TestAttackAPodSkipsWithoutEnd names more machines than a status takes.
func TestAttackAPodSkipsWithoutEnd(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 2 * maxSkipped {
		list = append(list, strings.Repeat("h", i))
	}
	if got := hosts(list); len(got) != maxSkipped || got[0] != "h" || !slices.IsSorted(got) {
		t.Errorf("there are %d, the first is %q", len(got), got[0])
	}
}
