// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
	"github.com/windlass-operator/windlass/internal/gateway/tail"
)

// TestAttackNoticesTellAddresses has an API server that is away. Only the log of the gateway has its address.
func TestAttackNoticesTellAddresses(t *testing.T) {
	t.Parallel()
	upstream, err := access.NewUpstream(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	a := &API{Options: Options{Upstream: upstream}, pods: &feed.Kind{}}
	pod := podLogs{name: "web", containers: []containerLog{{name: "main", id: "test://1"}}}
	for _, source := range a.sources(&access.Caller{Session: true}, &ownerLogsInput{}, []podLogs{pod}, nil) {
		_, err := source.Open(t.Context())
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("a reader is told: %v", err)
		}
	}
}

// TestALineWithoutATimeIsOfTheYearOne writes what a kubelet says in place of a log, which has no time although timestamps are asked for.
func TestALineWithoutATimeIsOfTheYearOne(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	lines := &textLines{to: bufio.NewWriter(&out), timestamps: true}
	for _, line := range []tail.Line{
		{Pod: "web", Container: "app", Text: []byte("unable to retrieve container logs for containerd://1")},
		{Pod: "web", Container: "app", Text: []byte("hello"), Time: time.Unix(7, 0).UTC()},
	} {
		if err := lines.Put(&line); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "[pod/web/app] unable to retrieve container logs for containerd://1\n[pod/web/app] 1970-01-01T00:00:07Z hello\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
