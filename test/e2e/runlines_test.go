// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
)

// TestLinesOfARunUnderWay follows a run with the kubectl plugin, as a user who can read the Cluster and get the two ConfigMaps, and nothing
// else. The tool goes on only when the plugin has shown what it has printed so far. The canary is a secret that the tool prints.
func TestLinesOfARunUnderWay(t *testing.T) {
	c := need(t)
	const canary, name, follower = "canary-51c0de", "lines", "follows-lines"
	c.startWithAPI(t, c.scriptedTool(t, t.TempDir())...)
	s := c.scriptedIn(t, name, t.TempDir())
	steps := []string{"one", "two", "three"}
	s.gates(t, steps...)
	var script strings.Builder
	var want []string
	for _, step := range steps {
		fmt.Fprintf(&script, "for i in 1 2 3; do echo \"%s $i\"; echo again; done\necho \"password: %s\"\nstep %s\n", step, canary, step)
		for i := range 3 {
			want = append(want, fmt.Sprintf("%s %d", step, i+1), "again")
		}
		want = append(want, "password: [redacted]", "INFO[0000] [up] "+step)
	}
	s.write(t, "up.sh", script.String()+upWorks)
	s.mayFollow(t, follower)
	s.create(t)
	first := s.reaches(t, steps[0])
	s.describes(t, "[up] one")

	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	follow := exec.CommandContext(ctx, c.Windlass, "logs", "cluster/"+name, "--follow", "--kubeconfig", c.Admin, "--as", follower)
	follow.Args[0] = "kubectl-windlass"
	var said strings.Builder
	follow.Stderr = &said
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for next := bufio.NewScanner(out); next.Scan(); {
		lines = append(lines, next.Text())
		switch _, step, _ := strings.Cut(next.Text(), "[up] "); step {
		case "one":
			first()
		case "two", "three":
			s.reaches(t, step)()
		}
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("the plugin failed: %v: %s", err, said.String())
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("what the plugin shows (-want +got):\n%s", diff)
	}
	s.becomes(t, status.Ready, metav1.ConditionTrue, status.Ready)
	var left corev1.ConfigMap
	key := client.ObjectKey{Namespace: namespace, Name: name + clusterprovisionerv1alpha1.RunningSuffix}
	if err := c.Client.Get(t.Context(), key, &left); err != nil || left.Data["log"] != "" {
		t.Errorf("of a run that has ended, %s has %q: %v", key, left.Data["log"], err)
	}
	s.remove(t)
	eventually(t, "nothing is left of it", func(ctx context.Context) error {
		if err := c.Client.Get(ctx, key, &left); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("%s is there: %w", key, err)
		}
		return nil
	})
}

// mayFollow gives a user the rights that following the log of the Cluster takes.
func (s *scripted) mayFollow(t *testing.T, user string) {
	t.Helper()
	s.apply(t, fmt.Sprintf(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules: [{apiGroups: [clusterprovisioner.rke.io], resources: [clusters], verbs: [get], resourceNames: [%[2]s]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: %[1]s, namespace: %[3]s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: [%[2]s-log, %[2]s-running]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s, namespace: %[3]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]
`, user, s.name, namespace))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		s.Run(ctx, s.Kubectl, "delete", "clusterrole,clusterrolebinding", user, "--ignore-not-found")
		s.Run(ctx, s.Kubectl, "delete", "role,rolebinding", user, "-n", namespace, "--ignore-not-found")
	})
}
