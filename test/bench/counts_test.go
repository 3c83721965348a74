// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/test/rig"
)

// TestWritesStayWithinTheirBudgets is the short form of the bench: it fails if an object costs more writes than it should, and says nothing
// about times.
func TestWritesStayWithinTheirBudgets(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs a whole control plane, which -short leaves out")
	}
	programs, err := rig.FindPrograms()
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.CheckBuilt(programs.Windlass, programs.Kubernetes("etcd"), programs.Kubernetes("kube-controller-manager")); err != nil {
		t.Skip(err)
	}
	var out, progress bytes.Buffer
	code := run(t.Context(), []string{"-check", "-scenario", "podsets,vms", "-podsets", "20", "-vms", "20", "-window", "0", "-rounds", "1"}, &out, &progress)
	t.Log(out.String())
	if code != 0 {
		t.Errorf("the bench ended with %d:\n%s", code, progress.String())
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	for sentence, tc := range map[string]struct{ got, want int }{
		"nothing more":                 {beyond(60, 20, 3), 0},
		"less":                         {beyond(20, 20, 3), 0},
		"one that was repeated":        {beyond(61, 20, 3), 0},
		"one more of each":             {beyond(80, 20, 3), 1},
		"one more of every second":     {beyond(70, 20, 3), 1},
		"no report in a moment":        {progressReports(20, 1900*time.Millisecond), 0},
		"one report, then":             {progressReports(20, 2*time.Second), 1},
		"one a second of a few":        {progressReports(3, 5*time.Second), 5},
		"none of many":                 {progressReports(500, 13*time.Second), 0},
		"two a minute of however many": {progressReports(5000, time.Minute), 2},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %d, want %d", sentence, tc.got, tc.want)
		}
	}
}
