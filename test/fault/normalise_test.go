// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// read returns a snapshot with objects that are given as YAML.
func read(t *testing.T, objects map[string]string) snapshot {
	t.Helper()
	s := snapshot{}
	for key, text := range objects {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			t.Fatal(err)
		}
		s[key] = object
	}
	return s
}

func TestSince(t *testing.T) {
	t.Parallel()
	before := map[string]string{"nodes/a": `{kind: Node, metadata: {name: a, uid: a1, resourceVersion: "1"}, status: {at: "2026-01-01T00:00:00Z"}}`}
	cases := map[string]struct {
		first, second map[string]string
		same          bool
	}{
		"times, versions and UIDs do not count": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1, resourceVersion: "5", creationTimestamp: "2026-01-01T00:00:00Z"}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u2, resourceVersion: "9", creationTimestamp: "2026-02-02T00:00:00Z"}}`},
			same:   true,
		},
		"a heartbeat is no change": {
			first:  map[string]string{"nodes/a": before["nodes/a"]},
			second: map[string]string{"nodes/a": `{kind: Node, metadata: {name: a, uid: a1, resourceVersion: "2"}, status: {at: "2026-01-01T00:00:10Z"}}`},
			same:   true,
		},
		"a Lease that was taken once more in an outage does not count": {
			first:  map[string]string{"leases/a": `{kind: Lease, metadata: {name: a, uid: l1}, spec: {leaseDurationSeconds: 40}}`},
			second: map[string]string{"leases/a": `{kind: Lease, metadata: {name: a, uid: l1}, spec: {leaseDurationSeconds: 40, leaseTransitions: 1}}`},
			same:   true,
		},
		"a time that is missing counts": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1, deletionTimestamp: "2026-01-01T00:00:00Z"}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u1}}`},
		},
		"an owner is known by its name": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1}}`, "classes/red": `{metadata: {name: red, uid: c1, ownerReferences: [{uid: u1}]}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u2}}`, "classes/red": `{metadata: {name: red, uid: c2, ownerReferences: [{uid: u2}]}}`},
			same:   true,
		},
		"an owner that is gone counts": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1}}`, "classes/red": `{metadata: {name: red, uid: c1, ownerReferences: [{uid: u1}]}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u2}}`, "classes/red": `{metadata: {name: red, uid: c2, ownerReferences: [{uid: u1}]}}`},
		},
		"a token that was issued again does not count, and the rest of the Secret does": {
			first:  map[string]string{"secrets/a": `{kind: Secret, metadata: {name: a, uid: s1}, data: {value: dG9rZW46IGV5SmhiLmV5SmkuYWJj}}`}, // token: eyJhb.eyJi.abc
			second: map[string]string{"secrets/a": `{kind: Secret, metadata: {name: a, uid: s1}, data: {value: dG9rZW46IGV5SmhiLmV5SmkuZGVm}}`}, // token: eyJhb.eyJi.def
			same:   true,
		},
		"another content of a Secret counts": {
			first:  map[string]string{"secrets/a": `{kind: Secret, metadata: {name: a, uid: s1}, data: {value: dG9rZW46IGV5SmhiLmV5SmkuYWJj}}`},
			second: map[string]string{"secrets/a": `{kind: Secret, metadata: {name: a, uid: s1}, data: {value: dG9rZW46IGFub3RoZXI=}}`},
		},
		"the UID of an object that is gone does not count among retained machines": {
			first:  map[string]string{"configmaps/r": `{kind: ConfigMap, metadata: {name: windlass-retained-machines, uid: c1}, data: {983ae683-e829-4f74-b1c2-5c6d3423fce9: web}}`},
			second: map[string]string{"configmaps/r": `{kind: ConfigMap, metadata: {name: windlass-retained-machines, uid: c1}, data: {bdfeef81-0bf1-493b-b3b7-abe6264e824a: web}}`},
			same:   true,
		},
		"the UID of a debugging tool that is gone does not count": {
			first:  map[string]string{"pods/p": `{kind: Pod, metadata: {name: p, uid: p1}, spec: {ephemeralContainers: [{env: [{name: WINDLASS_TOOL_UID, value: 983ae683-e829-4f74-b1c2-5c6d3423fce9}]}]}}`},
			second: map[string]string{"pods/p": `{kind: Pod, metadata: {name: p, uid: p1}, spec: {ephemeralContainers: [{env: [{name: WINDLASS_TOOL_UID, value: bdfeef81-0bf1-493b-b3b7-abe6264e824a}]}]}}`},
			same:   true,
		},
		"the UID of a debugging tool that is gone counts where it is there in the other run": {
			first: map[string]string{
				"pods/p":  `{kind: Pod, metadata: {name: p, uid: p1}, spec: {ephemeralContainers: [{env: [{name: WINDLASS_TOOL_UID, value: 983ae683-e829-4f74-b1c2-5c6d3423fce9}]}]}}`,
				"tools/t": `{kind: PodBuggerTool, metadata: {name: t, uid: 983ae683-e829-4f74-b1c2-5c6d3423fce9}}`,
			},
			second: map[string]string{
				"pods/p":  `{kind: Pod, metadata: {name: p, uid: p1}, spec: {ephemeralContainers: [{env: [{name: WINDLASS_TOOL_UID, value: 983ae683-e829-4f74-b1c2-5c6d3423fce9}]}]}}`,
				"tools/t": `{kind: PodBuggerTool, metadata: {name: t, uid: bdfeef81-0bf1-493b-b3b7-abe6264e824a}}`,
			},
		},
		"how often the tool failed before it succeeded does not count": {
			first: map[string]string{"configmaps/l": `{kind: ConfigMap, metadata: {name: a-log, uid: c1, managedFields: [{manager: windlass, fieldsV1: {"f:data": {"f:log": {}}}}]},
				data: {log: done, runs: '[{"id":"up-b4-1","phase":"Succeeded"}]'}}`},
			second: map[string]string{"configmaps/l": `{kind: ConfigMap, metadata: {name: a-log, uid: c1, managedFields: [{manager: windlass, fieldsV1: {"f:data": {"f:log": {}, "f:log.up-b4-1": {}}}}]},
				data: {log: done, log.up-b4-1: killed, runs: '[{"id":"up-b4-2","phase":"Succeeded"},{"id":"up-b4-1","phase":"Interrupted","reason":"Interrupted"}]'}}`},
			same: true,
		},
		"the beginning of a UID in the name of a guest does not count": {
			first:  map[string]string{"virtualmachines/a": `{kind: VirtualMachine, metadata: {name: a, uid: v1}, status: {server: {name: default-a-d711ad3f}}}`},
			second: map[string]string{"virtualmachines/a": `{kind: VirtualMachine, metadata: {name: a, uid: v1}, status: {server: {name: default-a-75f3d04a}}}`},
			same:   true,
		},
		"a run that is missing counts": {
			first:  map[string]string{"configmaps/l": `{kind: ConfigMap, metadata: {name: a-log, uid: c1}, data: {log: done, runs: '[{"id":"up-b4-1","phase":"Succeeded"}]'}}`},
			second: map[string]string{"configmaps/l": `{kind: ConfigMap, metadata: {name: a-log, uid: c1}, data: {log: done, runs: '[{"id":"up-b4-1","phase":"Failed"}]'}}`},
		},
		"which number a simulated machine has, and which address a container, does not count": {
			first:  map[string]string{"virtualmachines/a": `{metadata: {name: a, uid: v1}, status: {server: {id: sim-000001, addresses: [10.64.0.34]}}}`},
			second: map[string]string{"virtualmachines/a": `{metadata: {name: a, uid: v1}, status: {server: {id: sim-000002, addresses: [10.65.1.98]}}}`},
			same:   true,
		},
		"an object that is left over counts": {
			first:  map[string]string{},
			second: map[string]string{"classes/red": `{metadata: {name: red, uid: c1}}`},
		},
		"generated names do not count, the order of their objects neither": {
			first: map[string]string{
				"pods/web-aaaaa": `{metadata: {name: web-aaaaa, generateName: web-, uid: p1}, spec: {node: a}}`,
				"pods/web-bbbbb": `{metadata: {name: web-bbbbb, generateName: web-, uid: p2}, spec: {node: b}}`,
			},
			second: map[string]string{
				"pods/web-xxxxx": `{metadata: {name: web-xxxxx, generateName: web-, uid: p3}, spec: {node: b}}`,
				"pods/web-yyyyy": `{metadata: {name: web-yyyyy, generateName: web-, uid: p4}, spec: {node: a}}`,
			},
			same: true,
		},
		"only Windlass' own entries of managedFields count": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1, managedFields: [{manager: windlass, operation: Update}, {manager: kubelet}]}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u1, managedFields: [{manager: windlass, operation: Update}]}}`},
			same:   true,
		},
		"the order of a Deployment's conditions does not count": {
			first:  map[string]string{"deployments/web": `{kind: Deployment, metadata: {name: web, uid: u1}, status: {conditions: [{type: A}, {type: B}]}}`},
			second: map[string]string{"deployments/web": `{kind: Deployment, metadata: {name: web, uid: u1}, status: {conditions: [{type: B}, {type: A}]}}`},
			same:   true,
		},
		"the order of a pool's conditions does": {
			first:  map[string]string{"pools/red": `{kind: NodePool, metadata: {name: red, uid: u1}, status: {conditions: [{type: A}, {type: B}]}}`},
			second: map[string]string{"pools/red": `{kind: NodePool, metadata: {name: red, uid: u1}, status: {conditions: [{type: B}, {type: A}]}}`},
		},
		"who wrote the taints of a node last does not count": {
			first: map[string]string{"nodes/b": `{kind: Node, metadata: {name: b, uid: u1, managedFields: [
				{manager: windlass, fieldsV1: {"f:metadata": {}, "f:spec": {"f:taints": {}}}}]}}`},
			second: map[string]string{"nodes/b": `{kind: Node, metadata: {name: b, uid: u1, managedFields: [{manager: windlass, fieldsV1: {"f:metadata": {}}}]}}`},
			same:   true,
		},
		"a field that Windlass owns no longer counts": {
			first:  map[string]string{"pools/red": `{metadata: {name: red, uid: u1, managedFields: [{manager: windlass, operation: Update}]}}`},
			second: map[string]string{"pools/red": `{metadata: {name: red, uid: u1, managedFields: []}}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := read(t, tc.first).since(read(t, before)), read(t, tc.second).since(read(t, before))
			if diff := cmp.Diff(first, second); (diff == "") != tc.same {
				t.Errorf("equal is %t, want %t:\n%s", diff == "", tc.same, diff)
			}
		})
	}
}
