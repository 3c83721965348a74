// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// running are promises of what a run is given, and of what is told about it.
func running() cases {
	return cases{
		"a tool that works is told with what it left":         worksAndTells,
		"a run is given the state that an earlier one left":   restoresState,
		"a tool that fails is told with its cause":            tellsFailure,
		"a program that does not exist is told":               tellsMissing,
		"the log is bounded, and its end is what is kept":     boundsLog,
		"progress and the end are told to those who wait":     tellsChanges,
		"a tool at its timeout has its grace to save a state": stopsAtTimeout,
		"a tool that does not hear is killed after its grace": killsTheDeaf,
	}
}

func worksAndTells(t *testing.T, tr *trial) {
	wanted := tr.part(partWork, "up-1")
	tr.start(t, wanted)
	run := tr.ended(t, "up-1")
	if run.Phase != provision.Succeeded || run.Failure != nil || run.ExitCode == nil || *run.ExitCode != 0 || run.Action != provision.Up {
		t.Errorf("the run is %+v", run)
	}
	if want := "[etcd] Building up etcd plane.."; run.Stage != want || !strings.Contains(run.Log, want) {
		t.Errorf("the stage is %q and the log %q, want %q", run.Stage, run.Log, want)
	}
	if run.StartedAt.IsZero() || run.EndedAt.Before(run.StartedAt) {
		t.Errorf("it ran from %s to %s", run.StartedAt, run.EndedAt)
	}
	got := tr.left(t, wanted)
	got.KubeconfigPath = "" // for people, and not the same everywhere
	want := provision.Artifacts{State: map[string][]byte{stateName: wanted.Config}, Kubeconfig: []byte("kubeconfig")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

func restoresState(t *testing.T, tr *trial) {
	state := map[string][]byte{stateName: []byte("from the Secret\n")}
	wanted := tr.part(partWork, "up-1", func(r *provision.Request) { r.State = state })
	tr.start(t, wanted)
	tr.ended(t, "up-1")
	want := map[string][]byte{stateName: append([]byte("from the Secret\n"), wanted.Config...)}
	if diff := cmp.Diff(want, tr.left(t, wanted).State); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func tellsFailure(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partFail, "up-1"))
	run := tr.ended(t, "up-1")
	failure := provision.Classify("Failed to pull image: cannot pull image rancher/hyperkube")
	if run.Phase != provision.Failed || run.ExitCode == nil || *run.ExitCode != 7 || run.Failure == nil ||
		run.Failure.Reason != failure.Reason || !strings.Contains(run.Failure.Message, "cannot pull image rancher/hyperkube") {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
}

func tellsMissing(t *testing.T, tr *trial) {
	err := tr.Start(t.Context(), tr.part(partWork, "up-1", func(r *provision.Request) { r.Tool.Up = []string{"/no/such/tool"} }))
	if errors.Is(err, provision.ErrToolMissing) && strings.Contains(err.Error(), "/no/such/tool") {
		return // known before the start
	}
	if err != nil {
		t.Fatal(err)
	}
	run := tr.ended(t, "up-1")
	if run.Phase != provision.Failed || run.Failure == nil || run.Failure.Retryable || !strings.Contains(run.Failure.Message, "/no/such/tool") {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
}

func boundsLog(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partFlood, "up-1"))
	run := tr.ended(t, "up-1")
	if len(run.Log) > provision.MaxLog || run.Stage != "the last line" {
		t.Errorf("the log has %d bytes, the stage is %q", len(run.Log), run.Stage)
	}
}

func tellsChanges(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partWork, "up-1"))
	deadline := time.NewTimer(tr.subject.Patience)
	defer deadline.Stop()
	for {
		select {
		case cluster := <-tr.Changed():
			if cluster != tr.own {
				t.Errorf("%q has changed", cluster)
			}
			if run, err := tr.Observe(t.Context(), tr.own); err != nil {
				t.Fatal(err)
			} else if run.Phase != provision.Running {
				return
			}
		case <-deadline.C:
			t.Fatal("nobody was told that the run has ended")
		}
	}
}

func stopsAtTimeout(t *testing.T, tr *trial) {
	// Long enough for the tool to be there, and no longer than a test can take.
	wanted := tr.part(partHang, "up-1", func(r *provision.Request) { r.Timeout = 10 * time.Second })
	tr.start(t, wanted)
	run := tr.ended(t, "up-1")
	if run.Phase != provision.Failed || run.Failure == nil || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonTimeout {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
	if got := string(tr.left(t, wanted).State[stateName]); got != lastWords {
		t.Errorf("the state is %q", got)
	}
}

func killsTheDeaf(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partDeaf, "up-1", func(r *provision.Request) {
		r.Timeout, r.Grace = time.Second, 100*time.Millisecond
	}))
	if run := tr.ended(t, "up-1"); run.Phase != provision.Failed || run.Failure == nil || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonTimeout {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
}
