// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"errors"
	"testing"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

// ending are promises of how runs end before their tool does.
func ending() cases {
	return cases{
		"a run that is canceled saves its state":                      savesWhenCanceled,
		"a run that ends without a word is interrupted, and repeated": interrupts,
		"what has ended can be forgotten":                             forgets,
	}
}

func savesWhenCanceled(t *testing.T, tr *trial) {
	wanted := tr.part(partHang, "up-1")
	tr.start(t, wanted)
	tr.waits(t)
	tr.cancel(t)
	run := tr.ended(t, "up-1")
	if run.Phase != provision.Interrupted || run.Failure == nil || !run.Failure.Retryable {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
	if got := string(tr.left(t, wanted).State[stateName]); got != lastWords {
		t.Errorf("the state is %q", got)
	}
	if err := tr.Cancel(t.Context(), tr.own); err != nil {
		t.Errorf("canceling a run that has ended: %v", err)
	}
}

func interrupts(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partDeaf, "up-1"))
	tr.waits(t)
	tr.subject.Crash(t, tr.own)
	run := tr.ended(t, "up-1")
	if run.Phase != provision.Interrupted || run.Failure == nil || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonInterrupted || !run.Failure.Retryable {
		t.Errorf("the run is %+v with %+v", run, run.Failure)
	}
	tr.start(t, tr.part(partWork, "up-2"))
	if run := tr.ended(t, "up-2"); run.Phase != provision.Succeeded {
		t.Errorf("the next run is %+v with %+v", run, run.Failure)
	}
}

func forgets(t *testing.T, tr *trial) {
	tr.start(t, tr.part(partWork, "up-1"))
	tr.ended(t, "up-1")
	tr.until(t, "the run is forgotten", func() bool {
		err := tr.Forget(t.Context(), tr.own)
		if err != nil && !errors.Is(err, provision.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil
	})
	if run, err := tr.Observe(t.Context(), tr.own); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("the run that was forgotten is %+v, %v", run, err)
	}
}
