// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-operator/windlass/internal/machine/docker/dockertest"
)

// controllers are those that make passes over the objects of the test: nothing is drained.
var controllers = []string{"cluster", "kubeconfig", "node", "nodepool", "podbuggertool", "podset", "poolaccess", "virtualmachine"}

// kinds are the resources of Windlass.
var kinds = []string{
	"nodepools.nodes.lailin.xyz", "podsets.apps.jicki.cn", "podbuggertools.apps.jicki.cn", "virtualmachines.cloudnative.tw",
	"clusters.clusterprovisioner.rke.io", "kubeconfigs.clusterprovisioner.rke.io",
}

// pools share a node, put labels, annotations and taints on nodes that have others, and replace what was there.
const pools = `apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: red}
spec:
  labels: {example.com/red: "1", example.com/was: replaced}
  annotations: {example.com/owner: red}
  taints: [{key: example.com/red, value: "1", effect: NoSchedule}]
  handler: runc
  allowedNamespaces: {from: Selector, selector: {matchLabels: {pool: red}}}
  defaultFor: {namespaceSelector: {matchLabels: {pool: red}}}
  drain: {policy: Evict}
---
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: blue}
spec:
  priority: 5
  labels: {example.com/pool: blue}
  taints: [{key: example.com/blue, effect: PreferNoSchedule}]
`

// workloads are a PodSet, and a debugging tool for a Pod.
const workloads = `apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: web, namespace: default}
spec:
  size: 2
  minAvailable: 1
  nodePool: blue
---
apiVersion: apps.jicki.cn/v1alpha1
kind: PodBuggerTool
metadata: {name: shell, namespace: default}
spec: {label: app=patient, image: busybox}
`

// guests are a machine that runs, and one that is turned off and stays when its object goes.
const guests = `apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: one, namespace: default}
spec:
  image: {name: "` + dockertest.Image + `"}
  resource: {cpu: 100m, memory: 64Mi}
---
apiVersion: cloudnative.tw/v1alpha1
kind: VirtualMachine
metadata: {name: idle, namespace: default}
spec:
  image: {name: "` + dockertest.Image + `"}
  resource: {cpu: 100m, memory: 64Mi}
  runStrategy: Halted
  deletionPolicy: Retain
`

// provisioned are a Cluster whose tool copies a kubeconfig, and a token for it.
func provisioned(dir string) string {
	return `apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Cluster
metadata: {name: made}
spec:
  configPath: ` + dir + `/cluster.yml
  provisioner: exec
  exec:
    up: [sh, -c, "echo up >> ` + dir + `/runs && cp ` + dir + `/admin ` + dir + `/kube_config && echo kept > ` + dir + `/state"]
    remove: [sh, -c, "echo remove >> ` + dir + `/runs"]
    kubeconfigFile: kube_config
    stateFiles: [state]
---
apiVersion: clusterprovisioner.rke.io/v1alpha1
kind: Kubeconfig
metadata: {name: token}
spec: {clusterRef: {name: made}, type: ServiceAccountToken, clusterRole: view}
`
}

// join makes the nodes of the pools: what others have put on them is already there.
func (s *stage) join(t *testing.T) {
	t.Helper()
	for name, roles := range map[string][]string{"a": {"red"}, "b": {"red", "blue"}, "c": {"blue"}} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"example.com/was": "here", "example.com/theirs": "stays"}}}
		for _, role := range roles {
			node.Labels["node-role.kubernetes.io/"+role] = "true"
		}
		node.Spec.Taints = []corev1.Taint{{Key: "example.com/theirs", Effect: corev1.TaintEffectNoSchedule}}
		must(t, s.Client.Create(t.Context(), node))
	}
}

// populate makes objects of all kinds, in every state that lasts, and waits until they are as they should be. The directory has what the
// tool of the Cluster works with.
func (s *stage) populate(t *testing.T, dir string) {
	t.Helper()
	s.join(t)
	admin, err := os.ReadFile(s.Admin)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "admin"), admin, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cluster.yml"), []byte("nodes:\n- {address: 127.0.0.1, role: [controlplane, etcd, worker]}\n"), 0o600))
	s.apply(t, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: default}}`)
	s.apply(t, `{apiVersion: v1, kind: Pod, metadata: {name: patient, namespace: default, labels: {app: patient}},
		spec: {containers: [{name: one, image: none}]}}`)
	s.runs(t, "patient")
	s.apply(t, pools)
	s.apply(t, workloads)
	s.apply(t, guests)
	s.apply(t, provisioned(dir))

	s.wait(t, "nodepools.nodes.lailin.xyz/red", "nodepools.nodes.lailin.xyz/blue", "condition=Ready")
	s.wait(t, "node/b", `jsonpath={.metadata.labels.example\.com/pool}=blue`)
	s.wait(t, "deployment/web", "jsonpath={.spec.replicas}=2")
	s.wait(t, "podbuggertool/shell", "jsonpath={.status.observedGeneration}=1")
	s.wait(t, "clusters.clusterprovisioner.rke.io/made", "kubeconfigs.clusterprovisioner.rke.io/token", "condition=Ready")
	s.wait(t, "virtualmachine/one", "virtualmachine/idle", "condition=Ready")
}

// runs says of a Pod that it runs, as a kubelet does.
func (s *stage) runs(t *testing.T, name string) {
	t.Helper()
	pod := &corev1.Pod{}
	must(t, s.Client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, pod))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "one", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
	must(t, s.Client.Status().Update(t.Context(), pod))
}
