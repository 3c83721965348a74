// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
)

func TestLogs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := &clusterprovisionerv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: home}, Spec: clusterprovisionerv1alpha1.ClusterSpec{
		Config: &clusterprovisionerv1alpha1.ConfigSource{Inline: "nodes: []\n"},
	}}
	s.Create(t, cluster)
	within := []string{"--windlass-namespace", home}
	of := "logs cluster/" + home
	s.steps(t, within, step{args: of, code: exitPrevented, err: "no run of cluster"})
	ended := func(id, log string) provision.Ended { return provision.Ended{ID: id, Action: provision.Up, Log: log} }
	data, err := provision.History{ended("two", "one line\npassword: hunter2\n\x1b[31mlast\n"), ended("one", "earlier\n")}.Encode()
	must(t, err)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: home + "-log"}, Data: data}
	s.Create(t, kept)
	s.steps(t, within, step{args: of, code: exitPrevented, err: "no run of cluster"}) // it is of another Cluster of this name
	kept.Labels = map[string]string{clusterprovisionerv1alpha1.ClusterUIDLabel: string(cluster.UID)}
	must(t, s.Live.Update(t.Context(), kept))
	s.steps(t, within,
		step{args: of, out: "one line\n"},
		step{args: of + " --tail 1", out: "\x1b[31mlast\n"},
		step{args: of + " --tail 1", asked: true, out: "\ufffd[31mlast\n"},
		step{args: of + " --run one", out: "earlier\n"},
		step{args: of + " --run three", code: exitPrevented, err: `has no run "three"`},
		step{args: of + " --tail -5", code: exitMisused, err: "--tail must be a number of lines"},
		step{args: of + " --run one --follow", code: exitMisused, err: "leave --run out"},
	)
	if got := s.run(t, append(within, strings.Fields(of)...)...); strings.Contains(got.out, "hunter2") {
		t.Errorf("a password that somebody has written into the ConfigMap is printed: %s", got.out)
	}
	cluster.Status.LastOperation = &clusterprovisionerv1alpha1.Operation{ID: "three", Action: clusterprovisionerv1alpha1.ActionUp, Stage: "joining"}
	must(t, s.Live.Status().Update(t.Context(), cluster))
	s.steps(t, within,
		step{args: of + " --tail 1", out: "last", err: "the run three is under way (Up: joining), and its lines are not there yet"},
		step{args: of + " --run three", err: "its lines are not there yet: --follow waits for them"},
	)
	s.publish(t, cluster, home, "first\npassword: hunter2\nsecond\n")
	s.steps(t, within,
		step{args: of, out: "first\npassword: [redacted]\nsecond\n", err: "the run three is under way (Up: joining): these are its lines so far"},
		step{args: of + " --run three --tail 1", out: "second\n"},
		step{args: of + " --run two --tail 1", out: "last\n"},
	)
	reader := s.limited(t, home, "get configmaps")
	s.steps(t, append(reader, within...), step{args: of, code: exitPrevented, err: "you may not get resource clusters"})
}

// TestLogsOfAnotherNamespaceSayThatNoRunHasEnded is about somebody who does not know that Windlass runs elsewhere than by default.
func TestLogsOfAnotherNamespaceSayThatNoRunHasEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-1")
	within, of := []string{"--windlass-namespace", home + "-else"}, "logs cluster/"+home
	hint := func(suffix string) string {
		return "namespace " + home + "-else has no ConfigMap " + home + suffix + ": if Windlass runs in another namespace, name it with --windlass-namespace"
	}
	s.steps(t, within, step{args: of + " --run up-1", err: hint("-running")})
	s.end(t, cluster, home, provision.Ended{ID: "up-1", Action: provision.Up, Log: "a line\n"})
	s.steps(t, within,
		step{args: of, code: exitPrevented, err: hint("-log")},
		step{args: of + " --run up-1", code: exitPrevented, err: hint("-log")},
		step{args: of + " --run up-0", code: exitPrevented, err: hint("-log")},
	)
	s.steps(t, []string{"--windlass-namespace", home}, step{args: of, out: "a line\n"})
}

// TestLogsOfARunThatMayNotBeRead: the lines of that very run were asked for, there were none, and all was said to be well.
func TestLogsOfARunThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	home := s.Namespace(t)
	cluster := s.underWay(t, home, "up-2")
	s.publish(t, cluster, home, "a line\n")
	data, err := provision.History{{ID: "up-1", Action: provision.Up, Log: "earlier\n"}}.Encode()
	must(t, err)
	s.keep(t, cluster, home, clusterprovisionerv1alpha1.LogSuffix, data)
	const because = "the run up-2 is under way (Up: joining), and its lines cannot be read: you may not get resource configmaps"
	s.steps(t, []string{"--windlass-namespace", home, "--as", s.mayGetTheLog(t, home)},
		step{args: "logs cluster/" + home + " --run up-2", code: exitPrevented, err: because},
		step{args: "logs cluster/" + home, out: "earlier\n", err: because},
	)
}
