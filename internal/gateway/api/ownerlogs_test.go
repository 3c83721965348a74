// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/feed"
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
