// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package incluster

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-operator/windlass/test/rig"
)

func TestMain(m *testing.M) {
	isolate()
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestInCluster installs Windlass as teams do, from the manifests and from the chart, and lives through an ordinary week with it.
func TestInCluster(t *testing.T) { //nolint:tparallel // because a machine has room for one real node at a time
	t.Parallel()
	for name, by := range ways { //nolint:paralleltest // because a machine has room for one real node at a time
		t.Run(name, func(t *testing.T) { week(t, by) })
	}
}

func week(t *testing.T, by way) {
	t.Helper()
	s := start(t, by)
	s.do(t, "create", "namespace", rig.Namespace)
	s.secrets(t)
	s.install(t, s, "dev")
	for _, step := range []struct {
		sentence string
		prove    func(t *testing.T)
	}{
		{"two managers and two gateways run", func(t *testing.T) { t.Helper(); s.bothRun(t, "dev") }},
		{"they run confined", s.confined},
		{"their NetworkPolicies hold", s.policiesHold},
		{"the release passes its own test", s.releaseTest},
		{"a pool and a pod set work", s.poolAndPodSet},
		{"the HTTP API serves with the certificate of the Secret", s.gatewayServes},
		{"a machine runs on a Docker host that asks for certificates", s.machineRuns},
		{"the other manager takes over from a deleted leader", s.takeover},
		{"the end-to-end tests of pools and pod sets pass", s.endToEnd},
		{"evictions leave one manager", s.evictions},
		{"an upgrade leaves no pool unattended", s.upgrade},
		{"nothing was refused, and nothing crashed", s.nothingWentWrong},
	} {
		if !t.Run(step.sentence, step.prove) {
			return // each step stands on the one before
		}
	}
}
