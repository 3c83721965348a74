// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// auditLines are lines as the API server writes them, shortened, and the beginning of one that is still being written.
const auditLines = `{"verb":"patch","userAgent":"windlass/v1","objectRef":{"resource":"nodes","name":"a"},"responseStatus":{"code":200}}
{"verb":"patch","userAgent":"windlass/v1","objectRef":{"resource":"nodes","name":"b"},"responseStatus":{"code":200}}
{"verb":"patch","userAgent":"windlass/v1","objectRef":{"resource":"nodes","name":"b"},"responseStatus":{"code":409}}
{"verb":"patch","userAgent":"windlass/v1","objectRef":{"resource":"nodepools","subresource":"status"},"responseStatus":{"code":200}}
{"verb":"update","userAgent":"windlass/v1/leader-election","objectRef":{"resource":"leases"},"responseStatus":{"code":200}}
{"verb":"create","userAgent":"kube-controller-manager/v1.37.1 (linux/amd64)","objectRef":{"resource":"pods"},"responseStatus":{"code":201}}
{"verb":"get","requestURI":"/readyz?timeout=5s","user":{"username":"cluster-01"},"userAgent":"windlass/v1","requestReceivedTimestamp":"2026-01-02T03:04:05.678901Z"}
{"verb":"pat`

func TestCountWrites(t *testing.T) {
	t.Parallel()
	counts, err := countWrites(bufio.NewReader(strings.NewReader(auditLines)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kube-controller-manager", "windlass"}, counts.agents()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	cases := map[string]struct{ got, want int }{
		"all writes":                     {counts.sum(), 6},
		"of the manager":                 {counts.sum(by("windlass")), 5},
		"of the manager but its lease":   {counts.sum(by("windlass"), besidesLease), 4},
		"to nodes, refused ones as well": {counts.sum(by("windlass"), to("nodes")), 3},
		"to a subresource":               {counts.sum(to("nodepools/status")), 1},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %d, want %d", name, tc.got, tc.want)
		}
	}
	want := "2 patch nodes, 1 patch nodepools/status, 1 patch nodes (409)"
	if got := counts.text(by("windlass"), besidesLease); got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	if got := counts.text(by("nobody")); got != "none" {
		t.Errorf("text of nothing is %q, want none", got)
	}
}

func TestCountSinceAMark(t *testing.T) {
	t.Parallel()
	log := &auditLog{path: filepath.Join(t.TempDir(), "audit.log")}
	if err := os.WriteFile(log.path, []byte(auditLines), 0o600); err != nil {
		t.Fatal(err)
	}
	second := int64(strings.Index(auditLines, "\n") + 1)
	cases := map[string]struct {
		mark int64
		want int
	}{
		"the beginning":                        {0, 6},
		"the middle of the first line":         {second / 2, 5},
		"between two lines":                    {second, 5},
		"after the first letter of the second": {second + 1, 4},
		"the end":                              {int64(len(auditLines)), 0},
	}
	for name, tc := range cases {
		counts, err := log.since(tc.mark)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := counts.sum(); got != tc.want {
			t.Errorf("%s: %d writes, want %d", name, got, tc.want)
		}
	}
}

func TestCountWritesRefusesWhatIsNoLog(t *testing.T) {
	t.Parallel()
	if _, err := countWrites(bufio.NewReader(strings.NewReader("what\n"))); err == nil {
		t.Error("a line that is no JSON is accepted")
	}
}

func TestProbesAreReadFromTheLog(t *testing.T) {
	t.Parallel()
	log := &auditLog{path: filepath.Join(t.TempDir(), "audit.log")}
	if err := os.WriteFile(log.path, []byte(auditLines), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := log.asked(10, "cluster-")
	if err != nil {
		t.Fatal(err)
	}
	if times := asked["cluster-01"]; len(asked) != 1 || len(times) != 1 || times[0].Nanosecond() != 678901000 {
		t.Errorf("probes are %v, want the one of cluster-01", asked)
	}
}
