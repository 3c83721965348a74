// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

func TestConfigOfTheArticle(t *testing.T) {
	s := newSandbox(t)
	article, err := os.ReadFile("testdata/cluster.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "cluster.yml")
	write(t, config, string(article))

	client, kubeconfig := s.up("--config", config)
	if want := filepath.Join(filepath.Dir(config), "kube_config_cluster.yml"); kubeconfig != want {
		t.Errorf("kubeconfig is %q, want %q", kubeconfig, want)
	}
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: got %v, %v, want mode 0600", info, err)
	}
	before := getNode(t, client, "10.0.0.10")
	for _, role := range []string{"controlplane", "worker", "etcd"} {
		if before.Labels["node-role.kubernetes.io/"+role] != "true" {
			t.Errorf("role %s is missing from %v", role, before.Labels)
		}
	}
	if before.Annotations["kwok.x-k8s.io/node"] != "fake" {
		t.Errorf("the node is not marked as simulated: %v", before.Annotations)
	}

	label := []byte(`{"metadata":{"labels":{"foreign":"yes"}}}`)
	labelled, err := client.CoreV1().Nodes().Patch(t.Context(), "10.0.0.10", types.MergePatchType, label, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	processes := s.processes()
	client, _ = s.up("--config", config)
	if diff := cmp.Diff(processes, s.processes()); diff != "" {
		t.Errorf("a second up changed the processes (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(labelled.Labels, getNode(t, client, "10.0.0.10").Labels); diff != "" {
		t.Errorf("a second up changed the labels (-before +after):\n%s", diff)
	}
	s.followsEdits(config, before.UID)

	if _, stderr, code := s.run("remove", "--config", config); code != 1 || !strings.Contains(stderr, "--force") {
		t.Errorf("remove without --force: got %d, %q", code, stderr)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	s.must("remove", "--force", "--config", config)
	s.must("remove", "--force", "--config", config)
	if _, err := os.Stat(kubeconfig); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig after remove: got %v", err)
	}
	s.empty()
}

// followsEdits edits the article's file: a role goes and a node comes, then the first node goes.
func (s *sandbox) followsEdits(config string, uid types.UID) {
	t := s.t
	t.Helper()
	write(t, config, "nodes:\n- {address: 10.0.0.10, role: [worker]}\n- {address: 10.0.0.11, hostname_override: alpha, role: [gpu]}\n")
	client, _ := s.up("--config", config)
	changed := getNode(t, client, "10.0.0.10")
	_, etcd := changed.Labels["node-role.kubernetes.io/etcd"]
	if etcd || changed.Labels["foreign"] != "yes" || changed.UID != uid {
		t.Errorf("after a role was dropped: labels %v, uid %s, was %s", changed.Labels, changed.UID, uid)
	}
	if getNode(t, client, "alpha").Labels["node-role.kubernetes.io/gpu"] != "true" {
		t.Error("the added node has not its role")
	}
	write(t, config, "nodes:\n- {address: 10.0.0.11, hostname_override: alpha, role: [gpu]}\n")
	client, _ = s.up("--config", config)
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "10.0.0.10", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the removed node: got %v", err)
	}
}

func TestTwoClustersAtTheSameMoment(t *testing.T) {
	s := newSandbox(t)
	names := []string{"one", "two"}
	var group sync.WaitGroup
	for _, name := range names {
		group.Go(func() {
			if _, stderr, code := s.run("up", "--name", name, "--nodes", "2"); code != 0 {
				t.Errorf("up of %q ended with %d:\n%s", name, code, stderr)
			}
		})
	}
	group.Wait()

	listeners := s.listeners()
	if len(listeners) != 12 {
		t.Errorf("%d listeners, want 6 for each cluster: %v", len(listeners), listeners)
	}
	for _, listener := range listeners {
		if !strings.HasPrefix(listener, "0100007F:") {
			t.Errorf("%s is not on 127.0.0.1", listener)
		}
	}
	s.must("stop", "--name", "one")
	s.must("stop", "--name", "one")
	s.up("--name", "three")
	s.shows(summary{Name: "one", State: "Stopped", Nodes: 2}, summary{Name: "three", State: "Running"}, summary{Name: "two", State: "Running", Nodes: 2})
	endpoints := map[string]string{}
	for _, c := range s.list() {
		if other, taken := endpoints[c.Endpoint]; taken {
			t.Errorf("%q and %q share %s", other, c.Name, c.Endpoint)
		}
		endpoints[c.Endpoint] = c.Name
	}
	s.must("stop", "--all")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes %v after the end of all clusters", left)
	}
	s.must("start", "--name", "one")
	s.shows(summary{Name: "one", State: "Running", Nodes: 2}, summary{Name: "three", State: "Stopped"}, summary{Name: "two", State: "Stopped", Nodes: 2})
	s.must("down", "--all")
	s.empty()
}

func TestPodsRun(t *testing.T) {
	s := newSandbox(t)
	client, _ := s.up("--name", "pods", "--nodes", "3")
	labels := map[string]string{"app": "web"}
	replicas := int32(6)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
	deployments := client.AppsV1().Deployments("default")
	if _, err := deployments.Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("the deployment is available", func() bool {
		got, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && got.Status.AvailableReplicas == replicas
	})
	if err := deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.eventually("garbage collection has taken the pods", func() bool {
		pods, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	})
	s.must("up", "--name", "pods", "--nodes", "1")
	if nodes := s.list()[0].Nodes; nodes != 1 {
		t.Errorf("%d nodes after scaling to 1", nodes)
	}
	s.must("down", "--name", "pods")
	s.must("down", "--name", "pods")
	s.empty()
}

func TestRecovery(t *testing.T) {
	s := newSandbox(t)
	client, _ := s.up("--name", "crash", "--nodes", "2")
	keep := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "keep"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), keep, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kept := func(after string) {
		t.Helper()
		client, _ := s.up("--name", "crash")
		if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "keep", metav1.GetOptions{}); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
		s.shows(summary{Name: "crash", State: "Running", Nodes: 2})
		if processes := s.processes(); len(processes) != 5 {
			t.Errorf("after %s: processes %v, want 5", after, processes)
		}
	}

	for _, component := range []string{"kube-apiserver", "etcd", "kwok-controller"} {
		s.kill(component)
		if state := s.list()[0].State; state != "Degraded" {
			t.Errorf("after a kill of %s the state is %s", component, state)
		}
		kept("a kill of " + component)
	}
	s.kill("")
	// As after a reboot: the recorded number belongs to somebody else now.
	stranger := fmt.Sprintf(`{"pid":%d,"started":"another-boot/1"}`, os.Getpid())
	write(t, filepath.Join(s.dir, "clusters/crash/run/etcd.json"), stranger)
	kept("a kill of everything")
	s.must("stop", "--name", "crash")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes %v after stop", left)
	}

	endpoint, err := url.Parse(s.list()[0].Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var config net.ListenConfig
	squatter, err := config.Listen(t.Context(), "tcp", endpoint.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := squatter.Close(); err != nil {
			t.Error(err)
		}
	})
	kept("its port was taken by another program")
	s.must("down", "--name", "crash")
	s.empty()
}

func TestInterruptedFirstUp(t *testing.T) {
	s := newSandbox(t)
	for _, moment := range []string{"starting etcd", "starting kube-apiserver", "starting kube-scheduler", "nodes:"} {
		s.interrupt(syscall.SIGINT, moment, "up", "--name", "half", "--nodes", "40")
		if left := s.processes(); len(left) > 0 {
			t.Errorf("interrupted at %q: processes %v are left", moment, left)
		}
		s.empty()
	}
}

func TestKilledFirstUp(t *testing.T) {
	s := newSandbox(t)
	s.interrupt(syscall.SIGKILL, "starting kube-apiserver", "up", "--name", "half")
	if list := s.list(); len(list) != 1 || list[0].State != "Incomplete" {
		t.Errorf("list shows %+v", list)
	}
	s.must("stop", "--all")
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes %v after the end of an incomplete cluster", left)
	}
	client, _ := s.up("--name", "half", "--nodes", "1")
	getNode(t, client, "node-0000")
	if processes := s.processes(); len(processes) != 5 {
		t.Errorf("processes %v, want 5", processes)
	}
	s.interrupt(syscall.SIGKILL, "nodes:", "up", "--name", "half", "--nodes", "50")
	s.must("down", "--name", "half")
	s.empty()
}

func TestTwoUpsOfOneCluster(t *testing.T) {
	s := newSandbox(t)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { s.run("up", "--name", "same", "--nodes", "1") })
	}
	group.Wait()
	s.shows(summary{Name: "same", State: "Running", Nodes: 1})
	if processes := s.processes(); len(processes) != 5 {
		t.Errorf("processes %v, want 5", processes)
	}
	s.must("down", "--name", "same")
	s.empty()
}

func TestWrongCalls(t *testing.T) {
	s := newSandbox(t)
	bad := filepath.Join(t.TempDir(), "bad.yml")
	write(t, bad, "nodes: [{address: a}]")
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"up of nothing":                     {[]string{"up"}, 2, "either --config or --name"},
		"up of both":                        {[]string{"up", "--name", "a", "--config", "b"}, 2, "either --config or --name"},
		"a count of nodes beside a file":    {[]string{"up", "--config", "b", "--nodes", "1"}, 2, "--nodes does not go with --config"},
		"a name that is a path":             {[]string{"down", "--name", "../x"}, 2, "not usable"},
		"an unknown flag":                   {[]string{"list", "--fast"}, 2, "unknown flag"},
		"an unknown command":                {[]string{"launch"}, 2, "unknown command"},
		"a file that is not there":          {[]string{"up", "--config", "/nowhere.yml"}, 1, "no such file"},
		"a file with a mistake":             {[]string{"up", "--config", bad}, 1, "nodes[0].role: at least one is needed"},
		"stopping what is not there":        {[]string{"stop", "--name", "nobody"}, 1, "no such cluster"},
		"a real node with a bad name":       {[]string{"up", "--name", "a", "--real-node=B_"}, 2, "not usable"},
		"an image of nothing":               {[]string{"image", "import", "--name", "a", "--ref", "b:1"}, 2, "either --file or --binary"},
		"an image without a name":           {[]string{"image", "import", "--name", "a", "--file", "x"}, 2, "as the name of an image"},
		"an image for what is not there":    {[]string{"image", "import", "--name", "a", "--ref", "b:1", "--file", "x"}, 1, "no such cluster"},
		"a kubeconfig of what is not there": {[]string{"kubeconfig", "--name", "nobody"}, 1, "no such cluster"},
	}
	for name, test := range tests {
		stdout, stderr, code := s.run(test.args...)
		if code != test.code || !strings.Contains(stderr, test.says) || stdout != "" {
			t.Errorf("%s: got %d, %q, %q, want %d and %q", name, code, stdout, stderr, test.code, test.says)
		}
	}
	for _, call := range []string{"version", "--version"} {
		if out := s.must(call); !strings.Contains(out, "Kubernetes v1.") {
			t.Errorf("%s prints %q", call, out)
		}
	}
}

// empty checks that nothing is left of any cluster.
func (s *sandbox) empty() {
	s.t.Helper()
	if left := s.processes(); len(left) > 0 {
		s.t.Errorf("processes %v are left", left)
	}
	for _, dir := range []string{"clusters", "locks"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, dir))
		if err != nil || len(entries) > 0 {
			s.t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
}

func getNode(t *testing.T, client kubernetes.Interface, name string) *corev1.Node {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func write(t *testing.T, path, contents string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
}
