// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
)

// tool stands in RKE's place and is called as it: what it does is in a script for each action beside the configuration. It counts its
// calls there, and takes a step only when the test lets it.
const tool = `#!/bin/sh
[ "$1" = --version ] && { echo "rke version v1.8.0"; exit 0; }
action=$1
for config; do :; done
cd "$(dirname "$config")" || exit 1
echo "$action" >> calls
step() { echo "INFO[0000] [$action] $1"; read -r _ < "gate-$1"; }
works() { echo "state of $config" > cluster.rkestate; cp admin.kubeconfig kube_config_cluster.yml; }
. "./$action.sh"
`

// What the tool does where a test does not say otherwise.
const (
	upWorks     = "works\n"
	removeWorks = "rm -f cluster.rkestate kube_config_cluster.yml\n"
)

// scripted is a Cluster that a scripted tool provisions. It leads to the cluster of the tests, which is one that answers.
type scripted struct {
	*cluster

	name, dir string
}

// scriptedTool writes the tool and returns the manager's arguments for it.
func (c *cluster) scriptedTool(t *testing.T, state string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, []byte(tool), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"--provisioner-path=rke=" + path, "--state-dir=" + state, "--holder-identity=scripted"}
}

// scriptedIn prepares a directory for a Cluster: its configuration, and scripts that work.
func (c *cluster) scriptedIn(t *testing.T, name, dir string) *scripted {
	t.Helper()
	s := &scripted{cluster: c, name: name, dir: dir}
	admin, err := os.ReadFile(c.Admin)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "admin.kubeconfig", string(admin))
	s.write(t, "cluster.yml", "cluster_name: "+name+"\nnodes:\n- {address: "+name+".invalid, user: ubuntu, role: [controlplane, worker, etcd]}\n")
	s.write(t, "up.sh", upWorks)
	s.write(t, "remove.sh", removeWorks)
	return s
}

// write replaces a file in one step: the tool may be reading it.
func (s *scripted) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (s *scripted) read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// gates makes the steps that the tool waits in.
func (s *scripted) gates(t *testing.T, steps ...string) {
	t.Helper()
	for _, step := range steps {
		if err := syscall.Mkfifo(filepath.Join(s.dir, "gate-"+step), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// reaches waits until the tool is in a step, and returns what lets it go on.
func (s *scripted) reaches(t *testing.T, step string) (release func()) {
	t.Helper()
	var gate *os.File
	eventually(t, "the tool reaches step "+step, func(context.Context) (err error) {
		// It cannot be opened unless the tool is about to read from it.
		gate, err = os.OpenFile(filepath.Join(s.dir, "gate-"+step), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	t.Cleanup(func() { _ = gate.Close() })
	return func() {
		if _, err := gate.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		_ = gate.Close()
	}
}

// create makes the Cluster, with more lines of its spec. If the test fails before it is removed, the object at least does not stay.
func (s *scripted) create(t *testing.T, spec ...string) {
	t.Helper()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = s.Run(ctx, s.Kubectl, "delete", "clusters.clusterprovisioner.rke.io", s.name, "--ignore-not-found", "--wait=false")
		_ = s.Run(ctx, s.Kubectl, "patch", "clusters.clusterprovisioner.rke.io", s.name, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	s.apply(t, fmt.Sprintf("apiVersion: clusterprovisioner.rke.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec:\n  configPath: %s\n  %s\n",
		s.name, filepath.Join(s.dir, "cluster.yml"), strings.Join(spec, "\n  ")))
}

// becomes waits until a condition has the status and the reason.
func (s *scripted) becomes(
	t *testing.T, conditionType string, value metav1.ConditionStatus, reason string,
) *clusterprovisionerv1alpha1.Cluster {
	t.Helper()
	return s.conditionBecomes(t, s.name, conditionType, value, reason)
}

// conditionBecomes waits until a condition of a Cluster has the status and the reason.
func (c *cluster) conditionBecomes(
	t *testing.T, name, conditionType string, value metav1.ConditionStatus, reason string,
) *clusterprovisionerv1alpha1.Cluster {
	t.Helper()
	found := &clusterprovisionerv1alpha1.Cluster{}
	eventually(t, fmt.Sprintf("%s of %s is %s: %s", conditionType, name, value, reason), func(ctx context.Context) error {
		*found = clusterprovisionerv1alpha1.Cluster{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, found); err != nil {
			return err
		}
		condition := apimeta.FindStatusCondition(found.Status.Conditions, conditionType)
		if condition == nil || condition.Status != value || condition.Reason != reason {
			return fmt.Errorf("status is %+v", found.Status)
		}
		return nil
	})
	return found
}

// describes waits until "kubectl describe" tells all of the words. Events come a moment after the status.
func (s *scripted) describes(t *testing.T, words ...string) {
	t.Helper()
	eventually(t, "the description of "+s.name+" is complete", func(ctx context.Context) error {
		done := s.Run(ctx, s.Kubectl, "describe", "clusters.clusterprovisioner.rke.io", s.name)
		for _, word := range words {
			if !strings.Contains(done.Out, word) {
				return fmt.Errorf("it does not tell %q:\n%s%s", word, done.Out, done.Err)
			}
		}
		return nil
	})
}

// remove deletes the Cluster and waits until it is gone, which one that is being deleted already may be at any moment.
func (s *scripted) remove(t *testing.T) {
	t.Helper()
	s.do(t, "delete", "clusters.clusterprovisioner.rke.io", s.name, "--ignore-not-found", "--timeout=3m")
}

// called fails the test unless the tool was called for exactly these actions, in this order.
func (s *scripted) called(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Fields(s.read(t, "calls")); !slices.Equal(got, want) {
		t.Errorf("the tool was called for %q, want %q", got, want)
	}
}

// processesNaming returns the command lines of the processes that name a file below a directory.
func processesNaming(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		// One that has ended since has no command line any more.
		if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), dir+string(filepath.Separator)) {
			found = append(found, strings.ReplaceAll(string(raw), "\x00", " "))
		}
	}
	return found
}
