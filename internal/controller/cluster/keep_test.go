// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
	"github.com/windlass-operator/windlass/internal/testkit/build"
)

// TestAStateThatNoSecretTakesHoldsTheClusterForEver is about files that there is no storing: every pass failed before it recorded the run, and so the
// Cluster could not even be deleted.
func TestAStateThatNoSecretTakesHoldsTheClusterForEver(t *testing.T) {
	large := make([]byte, 1<<20)
	_, _ = rand.Read(large) // or it would be small, compressed
	for name, test := range map[string]struct {
		file, content, want string
		policy              clusterprovisionerv1alpha1.DeletionPolicy
		calls               string
	}{
		"its name is no key": {
			file: "a b.rkestate", content: "state", want: `the name of file "a b.rkestate" cannot be in a key of a Secret`, calls: "2 up, 1 remove",
		},
		"it is too large": {
			file: "large.rkestate", content: string(large), want: `more than the limit of 921600, most of them in "state.large.rkestate"`, calls: "2 up, 1 remove",
		},
		"the machines stay": {
			file: "a b.rkestate", content: "state", want: `"a b.rkestate"`, policy: clusterprovisionerv1alpha1.DeletionOrphan, calls: "2 up",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.create(func(c *clusterprovisionerv1alpha1.Cluster) { c.Spec.DeletionPolicy = test.policy })
			s.ready()
			s.file(test.file, test.content)
			s.file("cluster.yml", configText+"ssh_agent_auth: true\n")
			s.becomes(status.Stalled, "True StateLost: cannot store what the tool left: …")
			s.settled()
			if got := testkit.Condition(s.cluster, status.Stalled); !strings.Contains(got, test.want) {
				t.Errorf("Stalled is %q, want one with %q", got, test.want)
			}
			kept := s.secret(clusterprovisionerv1alpha1.StateSecretSuffix).Data
			state, err := unpack(kept[keyState+"cluster.rkestate"])
			if string(state) != "done" || err != nil || string(kept[keyApplied]) != configText {
				t.Errorf("the copy of the state is %q (%v), and applied is\n%s", state, err, kept[keyApplied])
			}
			s.delete()
			s.gone()
			if got := s.calls(); got != test.calls {
				t.Errorf("the tool was called for %q, want %q", got, test.calls)
			}
		})
	}
}

// TestANameThatNoSecretTakesIsNoticedOnceTheMachinesAreThere is about a preset, whose files have names that are known before.
func TestANameThatNoSecretTakesIsNoticedOnceTheMachinesAreThere(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]*refusal{
		"/etc/my clusters/east.yml": nil,
		"/etc/rke/my cluster.yml": {
			clusterprovisionerv1alpha1.ReasonConfigUnreadable, "the state of the tool cannot be stored: the name of file \"my cluster.rkestate\" cannot be in " +
				"a key of a Secret, which takes letters, digits, '-', '_' and '.', at most 247 of them. Rename the file of the configuration",
		},
	} {
		cluster := build.Cluster("one").ConfigPath(path).Obj()
		tool, err := toolOf(cluster)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, checkTool(cluster, tool), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}
