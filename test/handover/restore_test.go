// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dockerclient "github.com/moby/moby/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/test/rig"
)

// blocks returns the commands of the page about backups: those that save, and those that restore.
func blocks(t *testing.T, root string) (save, restore string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide", "backup.md"))
	must(t, err)
	found := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) != 2 {
		t.Fatalf("the page has %d blocks of commands, want those that save and those that restore", len(found))
	}
	return found[0][1], found[1][1]
}

// script runs commands of the page in the folder with the backup, and returns what they printed.
func (s *stage) script(t *testing.T, folder, script string) string {
	t.Helper()
	done := s.try(t, folder, script)
	if done.Code != 0 {
		t.Fatalf("exit code %d: %s\n%s", done.Code, done.Err, script)
	}
	return done.Out
}

func (s *stage) try(t *testing.T, folder, script string) rig.Result {
	t.Helper()
	command := s.Command(t.Context(), "bash", "-euc", strings.ReplaceAll(script, "-k config/", "-k "+filepath.Join(s.Root, "config")+"/"))
	command.Dir = folder
	command.Env = append(command.Env, "PATH="+filepath.Dir(s.Windlass)+":"+filepath.Dir(s.Kubectl)+":"+os.Getenv("PATH"))
	return rig.Finish(command)
}

// containers returns the containers of the engine, by ID, with their state.
func (s *stage) containers(t *testing.T) map[string]string {
	t.Helper()
	if s.engine == nil {
		return nil
	}
	api, err := s.engine.Client()
	must(t, err)
	defer func() { must(t, api.Close()) }()
	list, err := api.ContainerList(t.Context(), dockerclient.ContainerListOptions{All: true})
	must(t, err)
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].ID] = string(list.Items[i].State)
	}
	return out
}

// TestBackupIsRestored does what the page about backups says: it saves everything, loses the cluster, and restores into an empty one. The machines
// and Clusters are found again, nothing is made a second time, nothing is removed, and nodes keep what they have.
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	save, restore := blocks(t, newRoot(t))
	lost := newStage(t, "lost")
	lost.withEngine(t)
	must(t, lost.Install(t.Context()))
	_, kubeconfig, err := lost.TakeAccount(t.Context(), rig.ServiceAccount)
	must(t, err)
	before := lost.start(t, lost.Windlass, kubeconfig, "before", lost.args(t, lost.socket())...)
	tools, folder := t.TempDir(), t.TempDir()
	lost.populate(t, tools)
	lost.kubectl(t, "", "delete", "virtualmachine", "idle") // it is retained
	lost.apply(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: leaving, namespace: "+rig.Namespace+", finalizers: [example.com/stay]}}")
	lost.kubectl(t, "", "delete", "configmap", "leaving", "-n", rig.Namespace, "--wait=false")
	lost.settled(t, before)
	containers := lost.containers(t)
	lost.script(t, folder, save)
	before.stop(t)

	// An empty cluster, in which the nodes are as they were. It has other UIDs.
	s := newStage(t, "restored")
	s.engine = lost.engine
	s.rejoin(t, lost)
	said := s.script(t, folder, restore)
	installation := regexp.MustCompile(`--installation=(\S+),`).FindStringSubmatch(said)
	if installation == nil {
		t.Fatalf("the command does not say how to start the manager:\n%s", said)
	}
	if want := `ConfigMap "` + rig.Namespace + `/leaving" created, although it was being deleted when the backup was made`; !strings.Contains(said, want) {
		t.Errorf("the command does not say %q:\n%s", want, said)
	}
	must(t, s.Install(t.Context())) // waits until clients find the kinds
	_, kubeconfig, err = s.TakeAccount(t.Context(), rig.ServiceAccount)
	must(t, err)
	nodes := s.nodes(t)
	after := s.start(t, s.Windlass, kubeconfig, "after", append(s.args(t, s.socket()), "--installation="+installation[1])...)
	s.wait(t, "nodepools.nodes.lailin.xyz/red", "nodepools.nodes.lailin.xyz/blue", "clusters.clusterprovisioner.rke.io/made",
		"kubeconfigs.clusterprovisioner.rke.io/token", "virtualmachine/one", "condition=Ready")
	s.wait(t, "deployment/web", "jsonpath={.spec.replicas}=2")
	s.settled(t, after)

	if diff := cmp.Diff(containers, s.containers(t)); diff != "" {
		t.Errorf("the containers on the engine are others (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(nodes, s.nodes(t)); diff != "" {
		t.Errorf("nodes were changed (-before +after):\n%s", diff)
	}
	if ran, err := os.ReadFile(filepath.Join(tools, "runs")); string(ran) != "up\n" || err != nil {
		t.Errorf("the tool of the Cluster ran: %q (%v), want it to have run once", ran, err)
	}
	if strings.Contains(s.kubectl(t, "", "get", "events", "-A", "-o", "name"), "orphan") || strings.Contains(after.Tail(), "no VirtualMachine") {
		t.Errorf("machines are reported as orphans:\n%s", after.Tail())
	}
	again := s.try(t, folder, "windlass restore -f windlass.yaml")
	if want := "cannot restore while a manager runs"; again.Code != 1 || !strings.Contains(again.Err, want) {
		t.Errorf("while a manager runs: exit code %d and %q, want 1 and %q", again.Code, again.Err, want)
	}

	// The restored cluster is lost as well: hosts know the machines by the first one.
	second := t.TempDir()
	s.script(t, second, save)
	if said := newStage(t, "second").script(t, second, restore); !strings.Contains(said, installation[0]) {
		t.Errorf("the second restore does not say %q:\n%s", installation[0], said)
	}
	s.records(t)
}

// records uses what only statuses know: what pools have replaced, and which machine an object has.
func (s *stage) records(t *testing.T) {
	t.Helper()
	s.kubectl(t, "", "delete", "nodepools.nodes.lailin.xyz", "red", "blue")
	want := surface{
		Labels: map[string]string{"example.com/was": "here", "example.com/theirs": "stays", "node-role.kubernetes.io/red": "true"},
		Taints: []corev1.Taint{
			{Key: "example.com/theirs", Effect: corev1.TaintEffectNoSchedule},
			{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, // which the API server puts on each new node
		},
	}
	eventually(t, func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := s.Client.Get(ctx, client.ObjectKey{Name: "a"}, node); err != nil {
			return err
		}
		if diff := cmp.Diff(want, surface{Labels: node.Labels, Taints: node.Spec.Taints}); diff != "" {
			return fmt.Errorf("node a is not as it was before the pools (-want +got):\n%s", diff)
		}
		return nil
	})
	s.kubectl(t, "", "delete", "virtualmachine", "one")
	if s.engine == nil {
		return
	}
	if left := s.containers(t); len(left) != 1 {
		t.Errorf("these containers are left: %v, want only the retained one", left)
	}
	s.kubectl(t, "", "delete", "clusters.clusterprovisioner.rke.io", "made")
}

// surface is what pools change of a node.
type surface struct {
	Labels map[string]string
	Taints []corev1.Taint
}

// rejoin makes the nodes of another cluster, with everything that is on them.
func (s *stage) rejoin(t *testing.T, lost *stage) {
	t.Helper()
	var list corev1.NodeList
	must(t, lost.Client.List(t.Context(), &list))
	for i := range list.Items {
		was := &list.Items[i]
		must(t, s.Client.Create(t.Context(), &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: was.Name, Labels: was.Labels, Annotations: was.Annotations},
			Spec:       corev1.NodeSpec{Taints: was.Spec.Taints},
		}))
	}
}

// nodes returns the versions of all nodes.
func (s *stage) nodes(t *testing.T) map[string]string {
	t.Helper()
	var list corev1.NodeList
	must(t, s.Client.List(t.Context(), &list))
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].Name] = list.Items[i].ResourceVersion
	}
	return out
}

// newRoot returns the top folder of the repository.
func newRoot(t *testing.T) string {
	t.Helper()
	programs, err := rig.FindPrograms()
	must(t, err)
	return programs.Root
}
