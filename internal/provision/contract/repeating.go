// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-operator/windlass/internal/provision"
)

// repeating are promises of how often something runs.
func repeating() cases {
	return cases{
		"a run happens once, and every manager finds it": happensOnce,
		"runs are limited across clusters":               limits,
		"who asks notes a run before it starts":          notesFirst,
		"a cluster that found no slot is told of one":    callsTheNext,
		"a cluster without a run has nothing":            hasNothing,
	}
}

func happensOnce(t *testing.T, tr *trial) {
	wanted := tr.part(partHang, "up-1")
	tr.start(t, wanted)
	tr.waits(t)
	back := &trial{Provisioner: tr.subject.Again(t), subject: tr.subject, own: tr.own, place: tr.place}
	if err := back.Start(t.Context(), wanted); err != nil {
		t.Errorf("the same run, started by another manager: %v", err)
	}
	if err := back.Start(t.Context(), tr.part(partWork, "up-2")); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("a second run ends with %v", err)
	}
	if err := back.Forget(t.Context(), tr.own); !errors.Is(err, provision.ErrBusy) {
		t.Errorf("forgetting a run that is under way: %v", err)
	}
	back.waits(t)
	back.cancel(t)
	first := back.ended(t, "up-1")
	if first.Phase != provision.Interrupted {
		t.Errorf("the canceled run is %+v", first)
	}
	if err := back.Start(t.Context(), wanted); err != nil {
		t.Errorf("a run that has ended, started again: %v", err)
	}
	if diff := cmp.Diff(first, back.ended(t, "up-1")); diff != "" {
		t.Errorf("it ran again (-first +second):\n%s", diff)
	}
}

func limits(t *testing.T, tr *trial) {
	second, third := tr.subject.Place(t), tr.subject.Place(t)
	other := func(place provision.Place) func(*provision.Request) {
		return func(r *provision.Request) { r.Place = place }
	}
	tr.start(t, tr.part(partHang, "up-1"))
	tr.start(t, tr.part(partHang, "up-1", other(second)))
	noted := false
	note := func(r *provision.Request) { r.Before = func(context.Context) error { noted = true; return nil } }
	if err := tr.Start(t.Context(), tr.part(partHang, "up-1", other(third), note)); !errors.Is(err, provision.ErrLimit) || noted {
		t.Errorf("a third run: %v, noted: %t", err, noted)
	}
	tr.cancel(t)
	tr.until(t, "there is room again", func() bool { return tr.Start(t.Context(), tr.part(partWork, "up-1", other(third))) == nil })
	tr.end(t, tr.own, second.Cluster, third.Cluster)
}

func notesFirst(t *testing.T, tr *trial) {
	refused := errors.New("refused")
	wanted := tr.part(partWork, "up-1", func(r *provision.Request) { r.Before = func(context.Context) error { return refused } })
	if err := tr.Start(t.Context(), wanted); !errors.Is(err, refused) {
		t.Errorf("a run that cannot be noted: %v", err)
	}
	if run, err := tr.Observe(t.Context(), tr.own); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("it is %+v, %v", run, err)
	}
	noted := 0
	wanted.Before = func(context.Context) error { noted++; return nil }
	tr.start(t, wanted)
	if run := tr.ended(t, "up-1"); run.Phase != provision.Succeeded || noted != 1 {
		t.Errorf("the run is %+v, noted %d times", run, noted)
	}
}

func callsTheNext(t *testing.T, tr *trial) {
	second, third := tr.part(partHang, "up-1"), tr.part(partWork, "up-1")
	second.Place, third.Place = tr.subject.Place(t), tr.subject.Place(t)
	tr.start(t, tr.part(partHang, "up-1"))
	tr.start(t, second)
	if err := tr.Start(t.Context(), third); !errors.Is(err, provision.ErrLimit) {
		t.Fatalf("a third run: %v", err)
	}
	tr.cancel(t)
	tr.told(t, third.Cluster)
	if err := tr.Start(t.Context(), third); err != nil {
		t.Errorf("it was told of a slot, and there is none: %v", err)
	}
	tr.end(t, tr.own, second.Cluster, third.Cluster)
}

func hasNothing(t *testing.T, tr *trial) {
	if run, err := tr.Observe(t.Context(), tr.own); !errors.Is(err, provision.ErrNoRun) {
		t.Errorf("its run is %+v, %v", run, err)
	}
	wanted := tr.part(partWork, "up-1")
	left, err := tr.Collect(t.Context(), wanted.Place, wanted.Tool)
	if err != nil || len(left.State) > 0 || len(left.Kubeconfig) > 0 {
		t.Errorf("it left %+v, %v", left, err)
	}
	if err := errors.Join(tr.Cancel(t.Context(), tr.own), tr.Forget(t.Context(), tr.own)); err != nil {
		t.Error(err)
	}
}
