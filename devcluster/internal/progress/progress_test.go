// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlainLinesWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	report := New(&out)
	report.Doing("starting %s", "etcd")
	report.Counting("adding nodes %d/%d", 1, 1000)
	report.Done("etcd is ready")
	report.Close()
	got := regexp.MustCompile(`\d+\.\ds`).ReplaceAllString(out.String(), "0.0s")
	want := "   0.0s  starting etcd\n   0.0s  etcd is ready\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestNoReporterIsSilent(t *testing.T) {
	t.Parallel()
	var report *Reporter
	report.Doing("x")
	report.Counting("x")
	report.Done("x")
	report.Close()
}
