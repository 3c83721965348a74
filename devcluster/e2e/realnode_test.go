// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestRealNode(t *testing.T) {
	s := newSandbox(t)
	n := s.realNode("--name", "real", "--nodes", "1")
	node := getNode(t, n.client, "real")
	if _, simulated := node.Annotations["kwok.x-k8s.io/node"]; simulated {
		t.Errorf("the real node is marked as simulated: %v", node.Annotations)
	}
	handled := slices.ContainsFunc(node.Status.RuntimeHandlers, func(handler corev1.NodeRuntimeHandler) bool { return handler.Name == "runc" })
	if !handled {
		t.Errorf("runtime handlers are %+v, want runc among them", node.Status.RuntimeHandlers)
	}
	for _, listener := range s.listeners() {
		if !strings.HasPrefix(listener, "0100007F:") {
			t.Errorf("%s is not on 127.0.0.1", listener)
		}
	}
	n.refusesStrangers()
	n.runsPods()
	n.debugs()
	n.failsToPull()

	settings := machineSettings(t)
	n.outlivesStop(node.UID)
	n.evicts()
	n.goesCompletely()
	if diff := cmp.Diff(settings, machineSettings(t)); diff != "" {
		t.Errorf("the machine's settings have changed (-before +after):\n%s", diff)
	}
}

// refusesStrangers asks the kubelet without a certificate.
func (n *realNode) refusesStrangers() {
	t := n.s.t
	t.Helper()
	port := getNode(t, n.client, n.name).Status.DaemonEndpoints.KubeletEndpoint.Port
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/pods", port), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := n.anonymous().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger gets %s, want 401", response.Status)
	}
}

// runsPods runs one with a RuntimeClass, placed by the scheduler, and talks to it through the API server.
func (n *realNode) runsPods() {
	t := n.s.t
	t.Helper()
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "containers"}, Handler: "runc"}
	if _, err := n.client.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.run("web", func(pod *corev1.Pod) { pod.Spec.RuntimeClassName = new("containers") })
	pod := n.pod("web")
	if id := pod.Status.ContainerStatuses[0].ContainerID; !strings.HasPrefix(id, "containerd://") {
		t.Errorf("container ID is %q", id)
	}
	if logs := n.kubectl("logs", "web"); logs != "greetings\n" {
		t.Errorf("kubectl logs prints %q", logs)
	}
	if said := n.kubectl("exec", "web", "--", "/bin/greeter", "well", "met"); said != "well met\n" {
		t.Errorf("kubectl exec prints %q", said)
	}
}

// debugs adds an ephemeral container to the running pod.
func (n *realNode) debugs() {
	t := n.s.t
	t.Helper()
	n.s.eventually("the ephemeral container is added", func() bool {
		pod := n.pod("web")
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "tool", Image: greeterImage},
			TargetContainerName:      "main",
		}}
		_, err := n.client.CoreV1().Pods("default").UpdateEphemeralContainers(t.Context(), "web", pod, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) { // the kubelet writes the pod, too
			t.Fatal(err)
		}
		return err == nil
	})
	n.s.eventually("the ephemeral container runs", func() bool {
		statuses := n.pod("web").Status.EphemeralContainerStatuses
		return len(statuses) == 1 && statuses[0].State.Running != nil
	})
	if said := n.kubectl("exec", "web", "-c", "tool", "--", "/bin/greeter", "found", "it"); said != "found it\n" {
		t.Errorf("kubectl exec in the ephemeral container prints %q", said)
	}
}

// failsToPull asks for an image that was not imported: no registry may be dialled for it.
func (n *realNode) failsToPull() {
	t := n.s.t
	t.Helper()
	n.create("missing", func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "example.com/missing:1" })
	n.s.eventually("the missing image is refused on this machine", func() bool {
		statuses := n.pod("missing").Status.ContainerStatuses
		return len(statuses) == 1 && statuses[0].State.Waiting != nil && strings.Contains(statuses[0].State.Waiting.Message, "127.0.0.1:1")
	})
	if err := n.client.CoreV1().Pods("default").Delete(t.Context(), "missing", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// outlivesStop stops the cluster and starts it again.
func (n *realNode) outlivesStop(uid types.UID) {
	t := n.s.t
	t.Helper()
	before := n.traces()
	n.s.must("stop", "--name", "real")
	n.gone(before)
	n.client, _ = n.s.up("--name", "real")
	if after := getNode(t, n.client, n.name); after.UID != uid {
		t.Errorf("the node is another one after a stop: UID %s, was %s", after.UID, uid)
	}
	if nodes := n.s.list()[0].Nodes; nodes != 2 {
		t.Errorf("%d nodes after a stop, want 2", nodes)
	}
	n.s.eventually("the pod runs again", func() bool {
		pod := n.pod("web")
		return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
	})
}

// evicts taints the node and expects the pod to go from it, container and all.
func (n *realNode) evicts() {
	t := n.s.t
	t.Helper()
	taint := []byte(`{"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}}`)
	if _, err := n.client.CoreV1().Nodes().Patch(t.Context(), n.name, types.StrategicMergePatchType, taint, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	n.s.eventually("the taint has evicted the pod", func() bool {
		_, err := n.client.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// goesCompletely removes the cluster while a pod runs.
func (n *realNode) goesCompletely() {
	n.s.t.Helper()
	n.run("last", func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	before := n.traces()
	n.s.must("down", "--name", "real")
	n.gone(before)
	n.s.empty()
}

func TestRealNodeRecovers(t *testing.T) {
	s := newSandbox(t)
	n := s.realNode("--name", "real")
	n.run("web", func(*corev1.Pod) {})
	restarts := func() int32 { return n.pod("web").Status.ContainerStatuses[0].RestartCount }

	for _, component := range []string{"kubelet", "containerd"} {
		s.kill(component)
		if state := s.list()[0].State; state != "Degraded" {
			t.Errorf("after a kill of %s the state is %s", component, state)
		}
		n.client, _ = s.up("--name", "real")
		s.eventually("the pod answers after a kill of "+component, func() bool {
			said, err := n.tryKubectl("exec", "web", "--", "/bin/greeter", "still")
			return err == nil && said == "still\n"
		})
		if got := restarts(); got != 0 {
			t.Errorf("after a kill of %s: %d restarts, want the same container", component, got)
		}
	}

	// The power switch: whatever kills the node's first process takes everything on the node with it, at once.
	before := n.traces()
	s.kill("node-init")
	s.eventually("the kernel has ended the node", func() bool { return len(before.processes()) == 0 })
	n.client, _ = s.up("--name", "real")
	s.eventually("the pod runs again", func() bool { return isReady(n.pod("web")) && restarts() == 1 })

	before = n.traces()
	s.kill("")
	s.must("down", "--name", "real")
	n.gone(before)
	s.empty()
}

func TestRealNodeInterrupted(t *testing.T) {
	s := newSandbox(t)
	s.needRealNode()
	for _, moment := range []string{"starting node-init", "starting containerd", "starting kubelet", "waiting for the real node"} {
		s.interrupt(syscall.SIGINT, moment, "up", "--name", "half", "--real-node")
		if left := s.processes(); len(left) > 0 {
			t.Errorf("interrupted at %q: processes %v are left", moment, left)
		}
		s.empty()
	}
	s.interrupt(syscall.SIGKILL, "starting kubelet", "up", "--name", "half", "--real-node")
	s.must("up", "--name", "half", "--real-node")
	if processes := s.processes(); len(processes) != 8 {
		t.Errorf("processes %v after a killed and a whole up, want 8", processes)
	}
	n := &realNode{s: s, name: "real", stateDir: filepath.Join(s.dir, "clusters/half")}
	n.client, n.kubeconfig = s.up("--name", "half")
	before := n.traces()
	s.must("down", "--name", "half")
	n.gone(before)
	s.empty()
}

func TestRealNodeOfAFile(t *testing.T) {
	s := newSandbox(t)
	config := filepath.Join(t.TempDir(), "cluster.yml")
	write(t, config, "cluster_name: mixed\nnodes:\n- {address: alpha, role: [worker, gpu], labels: {zone: a}}\n- {address: beta, role: [worker]}\n")
	simulated, _ := s.up("--config", config)
	if _, kwok := getNode(t, simulated, "alpha").Annotations["kwok.x-k8s.io/node"]; !kwok {
		t.Error("alpha is not simulated at first")
	}
	n := s.realNode("--config", config)
	if _, kwok := getNode(t, n.client, "alpha").Annotations["kwok.x-k8s.io/node"]; kwok {
		t.Error("alpha is still simulated")
	}
	s.must("up", "--config", config)
	if nodes := s.list()[0].Nodes; nodes != 2 {
		t.Errorf("%d nodes, want those of the file", nodes)
	}
	n.hasRoles(t, map[string]string{"node-role.kubernetes.io/worker": "true", "node-role.kubernetes.io/gpu": "true", "zone": "a"})

	write(t, config, "cluster_name: mixed\nnodes:\n- {address: alpha, role: [worker]}\n- {address: beta, role: [worker]}\n")
	s.must("up", "--config", config)
	n.hasRoles(t, map[string]string{"node-role.kubernetes.io/worker": "true"})

	if _, stderr, code := s.run("up", "--config", config, "--real-node=gamma"); code != 1 || !strings.Contains(stderr, `real node "alpha"`) {
		t.Errorf("another name for the real node: got %d, %q", code, stderr)
	}
	before := n.traces()
	s.must("remove", "--force", "--config", config)
	n.gone(before)
	s.empty()
}

func TestRealNodeOfAFileThatCannotJoin(t *testing.T) {
	s := newSandbox(t)
	s.needRealNode()
	config := filepath.Join(t.TempDir(), "cluster.yml")
	write(t, config, "cluster_name: mixed\nnodes:\n- {address: alpha, role: [worker]}\n- {address: beta, role: [worker]}\n")
	s.up("--config", config)
	// Of a cluster that does not run, list shows the nodes that it had.
	for _, before := range []summary{{Name: "mixed", State: "Running", Nodes: 1}, {Name: "mixed", State: "Stopped", Nodes: 2}} {
		if before.State == "Stopped" {
			s.must("stop", "--name", "mixed")
		}
		s.interrupt(syscall.SIGINT, "waiting for the real node", "up", "--config", config, "--real-node=alpha")
		s.shows(before)
		client, _ := s.up("--config", config)
		if _, kwok := getNode(t, client, "alpha").Annotations["kwok.x-k8s.io/node"]; !kwok {
			t.Errorf("alpha is not simulated again in a cluster that was %s", before.State)
		}
		s.shows(summary{Name: "mixed", State: "Running", Nodes: 2})
	}
	s.must("remove", "--force", "--config", config)
	s.empty()
}

func TestRealNodeThatCannotJoin(t *testing.T) {
	s := newSandbox(t)
	s.needRealNode()
	s.up("--name", "old", "--nodes", "1")
	// In the way of the directory that the node needs.
	write(t, filepath.Join(s.dir, "clusters/old/node"), "")
	if _, stderr, code := s.run("up", "--name", "old", "--real-node"); code != 1 || !strings.Contains(stderr, "cannot create directory") {
		t.Errorf("got %d, %q", code, stderr)
	}
	s.shows(summary{Name: "old", State: "Running", Nodes: 1})
	if processes := s.processes(); len(processes) != 5 {
		t.Errorf("processes %v, want the 5 of the cluster as it was", processes)
	}
	s.up("--name", "old", "--real-node")
	s.shows(summary{Name: "old", State: "Running", Nodes: 2})
	s.must("down", "--name", "old")
	s.empty()
}

// hasRoles looks at the labels that the file can give.
func (n *realNode) hasRoles(t *testing.T, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for key, value := range getNode(t, n.client, n.name).Labels {
		if key == "zone" || strings.HasPrefix(key, "node-role.kubernetes.io/") {
			got[key] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}
