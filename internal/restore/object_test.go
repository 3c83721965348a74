// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// saved is a list as kubectl writes it.
const saved = `apiVersion: v1
kind: List
items:
- apiVersion: cloudnative.tw/v1alpha1
  kind: VirtualMachine
  metadata:
    name: one
    namespace: default
    uid: old-machine
    resourceVersion: "17"
    generation: 4
    creationTimestamp: "2026-01-01T00:00:00Z"
    finalizers: [cloudnative.tw/virtualmachine]
    managedFields: [{manager: windlass}]
  spec: {runStrategy: Always}
  status:
    observedGeneration: 4
    server: {host: a, id: container}
    conditions: [{type: Ready, observedGeneration: 3}]
- apiVersion: v1
  kind: Secret
  metadata:
    name: made-kubeconfig
    namespace: windlass-system
    uid: old-secret
    labels: {clusterprovisioner.rke.io/cluster-uid: old-cluster}
    ownerReferences:
    - {apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, name: made, uid: old-cluster, controller: true}
    - {apiVersion: v1, kind: ConfigMap, name: unknown, uid: never-saved}
---
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: red, uid: old-pool, generation: 1}
status:
  originals: [{node: a, uid: old-node, labels: {example.com/was: here}}]
`

func TestObjectsOfABackup(t *testing.T) {
	t.Parallel()
	objects, err := Read(strings.NewReader(saved))
	if err != nil || len(objects) != 3 {
		t.Fatalf("read %d objects (%v), want 3", len(objects), err)
	}
	now := renamed{"old-cluster": "new-cluster", "old-node": "new-node", "old-machine": "new-machine"}
	var created []any
	var statuses []any
	for _, object := range objects {
		made := fresh(object, now)
		created = append(created, made.Object)
		served := made.DeepCopy()
		served.SetGeneration(1)
		statuses = append(statuses, statusOf(object, served, now))
	}
	want := `created:
- apiVersion: cloudnative.tw/v1alpha1
  kind: VirtualMachine
  metadata: {name: one, namespace: default, finalizers: [cloudnative.tw/virtualmachine]}
  spec: {runStrategy: Always}
- apiVersion: v1
  kind: Secret
  metadata:
    name: made-kubeconfig
    namespace: windlass-system
    labels: {clusterprovisioner.rke.io/cluster-uid: new-cluster}
    ownerReferences: [{apiVersion: clusterprovisioner.rke.io/v1alpha1, kind: Cluster, name: made, uid: new-cluster, controller: true}]
- apiVersion: nodes.lailin.xyz/v1
  kind: NodePool
  metadata: {name: red}
statuses:
- observedGeneration: 1
  server: {host: a, id: container, uid: old-machine}
  conditions: [{type: Ready, observedGeneration: 0}]
- null
- originals: [{node: a, uid: new-node, labels: {example.com/was: here}}]
`
	got, err := yaml.Marshal(map[string]any{"created": created, "statuses": statuses})
	if err != nil {
		t.Fatal(err)
	}
	var wanted, found any
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(got, &found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Errorf("objects and statuses differ (-want +got):\n%s", diff)
	}
}

// A status that names a machine already was restored before.
func TestAStatusKeepsTheMachineThatItNames(t *testing.T) {
	t.Parallel()
	objects, err := Read(strings.NewReader(strings.Replace(saved, "id: container", "id: container, uid: oldest", 1)))
	if err != nil {
		t.Fatal(err)
	}
	status := statusOf(objects[0], objects[0], renamed{"oldest": "never"})
	if server, _ := status["server"].(map[string]any); server["uid"] != "oldest" {
		t.Errorf("the status names %v, want the machine that it named when it was saved", server["uid"])
	}
}

// The ServiceAccount of a Kubeconfig keeps the label with the UID of the object that it was made for.
func TestAKubeconfigKnowsTheUIDOfItsServiceAccount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"{kind: Kubeconfig, metadata: {uid: old}, status: {serviceAccount: windlass-a}}":                      "old",
		"{kind: Kubeconfig, metadata: {uid: old}, status: {serviceAccount: windlass-a, originalUID: oldest}}": "oldest",
		"{kind: Kubeconfig, metadata: {uid: old}, status: {server: a}}":                                       nil,
	} {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		if got := statusOf(&object, &object, renamed{"old": "new"})["originalUID"]; got != want {
			t.Errorf("%s: the original UID is %v, want %v", text, got, want)
		}
	}
}

// Kubeconfigs with a Secret in another namespace were not renewed after a restore, because nothing let Windlass write there any more.
func TestWhatClustersMakeIsNotRestored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"{kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: a}}":                                true,
		"{kind: Secret, type: helm.sh/release.v1, metadata: {name: a}}":                                                 true,
		"{kind: Secret, type: Opaque, metadata: {name: a}}":                                                             false,
		"{kind: ConfigMap, metadata: {name: kube-root-ca.crt}}":                                                         true,
		"{kind: Secret, type: Opaque, metadata: {name: windlass-run-a, labels: {clusterprovisioner.rke.io/run-of: a}}}": true,
		"{kind: Secret, type: Opaque, metadata: {name: windlass-run-a}}":                                                false,
		"{kind: Secret, type: Opaque, metadata: {name: mine, labels: {clusterprovisioner.rke.io/run-of: a}}}":           false,
		"{kind: ConfigMap, metadata: {name: windlass-retained-machines}}":                                               false,
		"{kind: RoleBinding, roleRef: {kind: ClusterRole, name: windlass-secret-reader}}":                               false,
		"{kind: RoleBinding, roleRef: {kind: ClusterRole, name: windlass-kubeconfig-writer}}":                           false,
		"{kind: RoleBinding, roleRef: {kind: ClusterRole, name: cluster-admin}}":                                        true,
	} {
		objects, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := isSkipped(objects[0]); got != want {
			t.Errorf("%s is skipped: %t, want %t", text, got, want)
		}
	}
}
