// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// What most scenarios have: the pool red, on all nodes.
const (
	redPool = "nodepools/red"
	allRed  = "{pool: red}"
)

// onePool is what many scenarios begin with: two nodes that have the pool.
func onePool() []step {
	return []step{apply(pool("red", allRed)), ready("red", 2)}
}

// ready waits until a pool is on that many nodes.
func ready(name string, nodes int) step {
	return until("nodepools/"+name, "Ready=True", fmt.Sprintf(".status.nodeCount=%d", nodes), fmt.Sprintf(".status.syncedNodeCount=%d", nodes))
}

func nodePoolScenarios() []scenario {
	two := []step{nodes("a", "b")}
	return slices.Concat(poolLifeScenarios(two), poolEndScenarios(two), poolNodeScenarios(two), poolDrainScenarios())
}

// poolLifeScenarios are those of a pool that comes and changes.
func poolLifeScenarios(two []step) []scenario {
	return []scenario{
		{
			name: "nodepool/created", given: two, steps: onePool(),
			guarded: "nodepools.nodes.lailin.xyz/red", guards: []string{"nodes/", "runtimeclasses.node.k8s.io/"},
		},
		{
			name: "nodepool/created-for-some-namespaces", given: two,
			steps: []step{
				apply(pool("red", allRed, "allowedNamespaces: {from: Selector, selector: {matchLabels: {team: red}}}",
					"defaultFor: {namespaceSelector: {matchLabels: {team: red}}}")),
				ready("red", 2),
			},
		},
		{
			name: "nodepool/default-refused-and-mended", given: two,
			steps: []step{
				apply(pool("red", allRed, `defaultFor: {namespaceSelector: {matchLabels: {team: not a label value}}}`)),
				until(redPool, "AdmissionReady.reason=AdmissionRefused"),
				merge(redPool, `{"spec":{"defaultFor":{"namespaceSelector":{"matchLabels":{"team":"red"}}}}}`),
				until(redPool, "AdmissionReady=True"), ready("red", 2),
			},
		},
		{
			name: "nodepool/labels-and-taints-changed", given: two, before: onePool(),
			steps: []step{
				merge(redPool, `{"spec":{"labels":{"example.com/red":"2","example.com/new":"1"},"taints":[{"key":"example.com/other","effect":"NoSchedule"}]}}`),
				ready("red", 2),
			},
		},
		{
			name: "nodepool/handler-changed", given: two, before: onePool(),
			steps: []step{merge(redPool, `{"spec":{"handler":"kata"}}`), ready("red", 2)},
		},
		{
			name: "nodepool/conflict-with-another-pool", given: two, before: onePool(),
			steps: []step{
				apply(strings.ReplaceAll(pool("blue", allRed, "priority: 5"), "example.com/blue", "example.com/red")),
				merge("nodepools/blue", `{"spec":{"labels":{"example.com/red":"blue"}}}`),
				until("nodepools/blue", "Ready=True"),
				until(redPool, "Conflicted=True"),
			},
		},
		{
			name: "nodepool/paused-and-resumed", given: two, before: onePool(),
			steps: []step{
				merge(redPool, `{"metadata":{"annotations":{"windlass.io/paused":"true"}}}`),
				until(redPool, "Paused=True"),
				merge(redPool, `{"spec":{"labels":{"example.com/red":"2"}}}`),
				merge(redPool, `{"metadata":{"annotations":{"windlass.io/paused":null}}}`),
				until(redPool, "Paused=False"), ready("red", 2),
			},
		},
		{
			name: "nodepool/manager-restarted-in-between", given: two,
			steps: []step{apply(pool("red", allRed)), restart(), ready("red", 2), restart(), ready("red", 2)},
		},
	}
}

// poolEndScenarios are those in which pools are deleted.
func poolEndScenarios(two []step) []scenario {
	return []scenario{
		{name: "nodepool/deleted", given: two, before: onePool(), steps: []step{remove(redPool), gone(redPool)}, undone: true},
		{
			name: "nodepool/several-deleted-together", given: two, undone: true,
			before: []step{
				apply(pool("red", allRed), pool("blue", allRed), pool("green", "{kubernetes.io/hostname: a}")),
				ready("red", 2), ready("blue", 2), ready("green", 1),
			},
			steps: []step{
				remove(redPool, "nodepools/blue", "nodepools/green"),
				gone(redPool, "nodepools/blue", "nodepools/green"),
			},
		},
		{
			name: "nodepool/recreated-under-the-same-name", given: two, before: onePool(),
			steps: append([]step{remove(redPool), gone(redPool)}, onePool()...),
		},
	}
}

// poolNodeScenarios are those in which nodes change below a pool.
func poolNodeScenarios(two []step) []scenario {
	const binding = "mutatingadmissionpolicybindings.admissionregistration.k8s.io/windlass-nodepool-label-red"
	foreign := merge("nodes/a", `{"metadata":{"labels":{"example.com/red":"foreign"}}}`)
	return []scenario{
		{
			name: "nodepool/node-joins", given: two, before: onePool(),
			steps: []step{nodes("c"), ready("red", 3)},
		},
		{
			name: "nodepool/node-leaves", given: two, before: onePool(),
			steps: []step{merge("nodes/a", `{"metadata":{"labels":{"pool":null}}}`), ready("red", 1)},
		},
		{name: "nodepool/node-deleted", given: two, before: onePool(), steps: []step{remove("nodes/a"), ready("red", 1)}},
		{
			name: "nodepool/label-changed-by-others", given: two, before: onePool(),
			steps: []step{foreign, until("nodes/a", `.metadata.labels.example\.com/red=1`), ready("red", 2)},
		},
		{
			name: "nodepool/policy-deleted-by-others", given: two, before: onePool(),
			steps: []step{remove(binding), until(binding, ".metadata.name=windlass-nodepool-label-red"), until(redPool, "AdmissionReady=True"), ready("red", 2)},
		},
		{
			name: "nodepool/foreign-label-put-back", undone: true, given: []step{nodes("a", "b"), foreign}, before: onePool(),
			steps: []step{remove(redPool), gone(redPool), until("nodes/a", `.metadata.labels.example\.com/red=foreign`)},
		},
		{
			name: "nodepool/rolled-out-in-batches", given: []step{nodes("a", "b", "c")},
			before: []step{apply(pool("red", allRed, "rollout: {maxConcurrent: 1}")), ready("red", 3)},
			steps:  []step{merge(redPool, `{"spec":{"labels":{"example.com/red":"2"}}}`), ready("red", 3)},
		},
	}
}

// poolDrainScenarios are those in which pods are evicted.
func poolDrainScenarios() []scenario {
	// The label alone does nothing until the API server has read the policies.
	member := pod("member", "nodes.lailin.xyz/pool: red") + `  nodeSelector: {nodepool.node-restriction.kubernetes.io/red: ""}
`
	drained := []step{
		apply(pool("red", allRed, "drain: {policy: Evict, timeoutSeconds: 0}")), ready("red", 2),
		again(apply(member)), until("pods/default/member", "Ready=True"),
	}
	return []scenario{
		{
			name: "nodepool/drained-with-a-budget", given: []step{nodes("a", "b")},
			before: append(drained, apply(`apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: member, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {nodes.lailin.xyz/pool: red}}}
`), until("poddisruptionbudgets/default/member", ".status.currentHealthy=1")),
			steps: []step{
				merge("nodes/a", `{"metadata":{"labels":{"pool":null}}}`),
				until(redPool, "Drained.reason=DrainBlocked"),
				remove("poddisruptionbudgets/default/member"),
				gone("pods/default/member"),
				ready("red", 1),
			},
		},
		{
			name: "nodepool/deleted-with-drain", undone: true, given: []step{nodes("a", "b")}, before: drained,
			steps: []step{remove(redPool), gone(redPool, "pods/default/member")},
		},
	}
}

// pool returns a pool with a label and a taint of its own, on the nodes with the labels.
func pool(name, selector string, more ...string) string {
	manifest := fmt.Sprintf(`apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  nodeSelector: {matchLabels: %[2]s}
  labels: {example.com/%[1]s: "1"}
  taints: [{key: example.com/%[1]s, effect: PreferNoSchedule}]
`, name, selector)
	return manifest + indented(more)
}

// pod returns a pod with labels, on the node a.
func pod(name, labels string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default, labels: {%s}}
spec:
  nodeName: a
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  containers: [{name: main, image: example.com/main}]
`, name, labels)
}

// indented returns lines of a spec in the indentation of the manifests.
func indented(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("  " + line + "\n")
	}
	return out.String()
}
