// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import "slices"

// refusal is what the admission policies of the faults say.
const refusal = "not on a Friday"

// refusing is an admission policy of the cluster that refuses one object, by a CEL expression.
func refusing(group, resource, operations, expression string) step {
	return have(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: $}, spec: {failurePolicy: Fail, ` +
		`matchConstraints: {resourceRules: [{apiGroups: ["` + group + `"], apiVersions: [v1], operations: [` + operations + `], resources: [` + resource + `]}]}, ` +
		`matchConditions: [{name: this-one, expression: "` + expression + `"}], validations: [{expression: "false", message: ` + refusal + `}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: $}, spec: {policyName: $, validationActions: [Deny]}}`)
}

// poolFaults keep NodePools from being ready.
func poolFaults() []fault {
	faults := slices.Concat(poolNodeFaults(), poolClassFaults())
	for i := range faults {
		faults[i].ask = "nodepools/$"
	}
	return faults
}

func poolNodeFaults() []fault {
	return []fault{
		{
			name: "The selector is not valid", id: "pool-invalid",
			steps: []step{have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}, spec: {nodeSelector: {matchLabels: {"not a key": x}}}}`)},
			code:  "InvalidSelector", evidence: "NodePool/$ status.conditions[*]", message: "not a key",
		},
		{
			name: "All members would leave at once", id: "pool-braked", steps: four(unselect()),
			code: "TooManyLeaving", evidence: "NodePool/$ status.conditions[SafetyBrake]", message: "4 of the 4 nodes", cures: true,
		},
		{
			name: "Another owner holds a label of the pool", id: "pool-key-held",
			steps: []step{node("$-a", label("causes.example/speed", "slow")), have(pool(", overwrite: Never, labels: {causes.example/speed: fast}"))},
			code:  "KeysHeldElsewhere", evidence: "NodePool/$ status.conditions[Conflicted]", message: "causes.example/speed", shows: "causes.example/speed",
		},
		{
			name: "The pool is in dry run", id: "pool-rehearses", steps: []step{node("$-a"), have(pool(", dryRun: true"))},
			code: "DryRun", evidence: "NodePool/$ status.conditions[*]", message: "dry run", cures: true,
		},
		{
			name: "The pool is paused, and a node has come since", id: "pool-rests", steps: []step{have(pool("")), empty(), paused("nodepool/$"), node("$-a")},
			code: "Paused", evidence: "NodePool/$ status.conditions[Paused]", message: "windlass.io/paused", cures: true,
		},
		{
			name: "More members are not ready than the rollout allows", id: "pool-unavailable",
			steps: []step{node("$-a"), node("$-z", notReady), have(pool("")), until("nodepool/$", "status.syncedNodeCount", "2"), careful()},
			code:  "TooManyUnavailable", evidence: "NodePool/$ status.conditions[RolledOut]", message: "not Ready are 1", shows: "$-z",
		},
		{
			name: "The rollout pauses between two batches", id: "pool-between",
			steps: []step{node("$-a"), node("$-b"), have(pool(`, labels: {causes.example/speed: fast}, rollout: {maxConcurrent: 1, pauseSeconds: 3600}`))},
			code:  "RolloutPausing", evidence: "NodePool/$ status.conditions[RolledOut]", message: "pause between two batches", shows: "waitingNodeCount",
		},
		{
			name: "A budget refuses to evict a pod", id: "pool-blocked",
			steps: slices.Concat([]step{have(pool(", drain: {policy: Evict, timeoutSeconds: 0}")), node("$-a"), ready()}, keeping(), []step{unselect()}),
			code:  "DrainBlocked", evidence: "NodePool/$ status.conditions[Drained]", message: "disruption budget", shows: "keep",
		},
		{
			name: "An evicted pod does not end", id: "pool-draining",
			steps: []step{
				have(pool(", drain: {policy: Evict, timeoutSeconds: 0}")), node("$-a"), ready(),
				have(`{apiVersion: v1, kind: Pod, metadata: {name: web, finalizers: [causes.example/keep]}, spec: {runtimeClassName: $, containers: [{name: main, image: causes.invalid/app:1}]}}`),
				running("web"), unselect(),
			},
			code: "Draining", evidence: "NodePool/$ status.conditions[Drained]", message: "$-a", shows: "$-a",
		},
		{
			name: "The API server refuses a change of the member", id: "pool-node-refused",
			steps: []step{
				node("$-a"), refusing("", "nodes", "CREATE, UPDATE", "object.metadata.name.startsWith('$') && has(object.metadata.annotations) && 'nodes.lailin.xyz/applied' in object.metadata.annotations"),
				refused(refusal, `{apiVersion: v1, kind: Node, metadata: {name: $-b, annotations: {nodes.lailin.xyz/applied: "{}"}}}`), have(pool("")), until("nodepool/$", "status.nodeCount", "1"),
			},
			code: "SyncingNodes", evidence: "NodePool/$ status.conditions[NodesSynced]", message: "$-a", shows: refusal,
		},
	}
}

func poolClassFaults() []fault {
	return []fault{
		{
			name: "A RuntimeClass of the name belongs to somebody else", id: "pool-name",
			steps: []step{have(`{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: runc}`), have(pool(""))},
			code:  "NameConflict", evidence: "NodePool/$ status.conditions[RuntimeClassReady]", message: "does not belong to the pool", shows: "does not belong",
		},
		{
			name: "A policy refuses the RuntimeClass", id: "pool-class-refused",
			steps: []step{
				refusing("node.k8s.io", "runtimeclasses", "CREATE, UPDATE", "object.metadata.name == '$'"),
				refused(refusal, `{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $}, handler: runc}`), have(pool("")),
			},
			code: "RuntimeClassRefused", evidence: "NodePool/$ status.conditions[RuntimeClassReady]", message: refusal, shows: refusal,
		},
		{
			name: "A member lacks the handler of the pool", id: "pool-handler", steps: []step{node("$-a", handlers("runc", "crun")), have(pool(", handler: gvisor"))},
			code: "HandlerMissing", evidence: "NodePool/$ status.conditions[HandlerAvailable]", message: "handler gvisor is missing", shows: "crun",
		},
		{
			name: "A pod of the pool keeps it from being deleted", id: "pool-in-use",
			steps: []step{have(pool("")), node("$-a"), ready(), have(pod("web", inPool)), running("web"), remove("nodepool/$")},
			code:  "InUse", evidence: "NodePool/$ status.conditions[NodesSynced]", message: "pod",
		},
		{
			name: "The selector of the allowed namespaces is not valid", id: "pool-allowed-invalid",
			steps: []step{have(pool(`, allowedNamespaces: {from: Selector, selector: {matchLabels: {"not a key": x}}}`))},
			code:  "InvalidSelector", evidence: "NodePool/$ status.conditions[*]", message: "not a key",
		},
		{
			name: "A policy of the name of the pool's belongs to somebody else", id: "pool-policy-name",
			steps: []step{
				have(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: windlass-nodepool-allowed-$}, spec: {` +
					`matchConstraints: {resourceRules: [{apiGroups: [causes.example], apiVersions: [v1], operations: [CREATE], resources: [nothing]}]}, validations: [{expression: "true"}]}}`),
				have(pool(`, allowedNamespaces: {from: Selector, selector: {matchLabels: {team: ml}}}`)),
			},
			code: "NameConflict", evidence: "NodePool/$ status.conditions[AdmissionReady]", message: "windlass-nodepool-allowed-$", shows: "windlass-nodepool-allowed-$",
		},
	}
}
