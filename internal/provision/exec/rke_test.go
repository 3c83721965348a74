// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// TestTheRealRKE runs RKE itself through its preset, against a port of this machine without a listener. Only this test proves that
// Windlass understands RKE's messages.
func TestTheRealRKE(t *testing.T) {
	program, err := filepath.Abs("../../../bin/rke")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skipf("needs %s: run \"make bin/rke\" first", program)
	}
	s := newStage(t)
	s.Runner, err = New(Options{
		Root: s.root, Limit: 1, Supervisor: []string{os.Args[0], "supervise"}, Paths: map[string]string{"rke": program},
		Now:         time.Now,
		Environment: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
	})
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("nodes:\n- {address: 127.0.0.1, port: %q, user: nobody, role: [controlplane, etcd, worker]}\n", testkit.SilentPort(t))
	if err := os.WriteFile(s.config, []byte(config), fileMode); err != nil {
		t.Fatal(err)
	}
	tool, err := provision.Preset("rke")
	if err != nil {
		t.Fatal(err)
	}
	if version, err := s.Version(t.Context(), tool); err != nil || version != "rke version v1.8.0" {
		t.Errorf("the version is %q (%v)", version, err)
	}
	wanted := s.part("", "up-1", func(wanted *provision.Request) { wanted.Tool, wanted.PrivateKey = tool, testkit.PrivateKey(t) })

	s.start(wanted)
	run := s.ended()
	s.failedForWantOfAMachine(run)
	left, err := s.Collect(t.Context(), wanted.Place, tool)
	if err != nil {
		t.Fatal(err)
	}
	if state := left.State["cluster.rkestate"]; len(state) < 1000 || left.Kubeconfig != nil {
		t.Errorf("it left %d bytes of state and %d of a kubeconfig, want the certificates that the next try needs, and no kubeconfig",
			len(state), len(left.Kubeconfig))
	}

	wanted.ID, wanted.Action = "remove-1", provision.Remove
	s.start(wanted)
	s.failedForWantOfAMachine(s.ended())
}

// failedForWantOfAMachine proves that a run failed because the machine was not there, which heals once it is.
func (s *stage) failedForWantOfAMachine(run provision.Run) {
	s.t.Helper()
	if run.Phase != provision.Failed || run.Failure == nil || run.Failure.Reason != clusterprovisionerv1alpha1.ReasonSSHTunnel || !run.Failure.Retryable {
		s.t.Errorf("%s is %s with %+v, want a failure that is repeated: %s; its log:\n%s",
			run.ID, run.Phase, run.Failure, clusterprovisionerv1alpha1.ReasonSSHTunnel, run.Log)
	}
	if diff := cmp.Diff([]string{"127.0.0.1"}, run.Skipped); diff != "" {
		s.t.Errorf("%s skipped (-want +got):\n%s", run.ID, diff)
	}
}
