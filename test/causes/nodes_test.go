// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package causes

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/why"
)

// paused pauses an object of Windlass, and waits until Windlass has seen that.
func paused(what string) step {
	pause, seen := change(what, `metadata: {annotations: {windlass.io/paused: "true"}}`), until(what, "status.conditions[Paused]", "True")
	return step{"pause " + what, func(ctx context.Context, r *trial) error {
		if err := pause.take(ctx, r); err != nil {
			return err
		}
		return seen.take(ctx, r)
	}}
}

// empty waits until the pool is ready and has no member.
func empty() step { return until("nodepool/$", "status.conditions[Ready]", "NoNodes") }

// keeping is a pod of the pool whose eviction a budget refuses.
func keeping() []step {
	return []step{
		have(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: keep}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}`),
		have(pod("web", inPool)), running("web"), until("pdb/keep", "status.expectedPods", "1"),
	}
}

// nodeFaults keep nodes from taking pods.
func nodeFaults() []fault {
	return slices.Concat(membershipFaults(), []fault{
		{
			name: "The node is not ready", id: "node-not-ready", steps: []step{node("$-a", notReady)},
			ask: "nodes/$-a", code: why.CodeNodeNotReady, evidence: "Node/$-a status.conditions[Ready]", shows: "node.kubernetes.io/",
		},
		{
			name: "The node is cordoned", id: "node-cordoned", steps: []step{node("$-a", cordoned)},
			ask: "nodes/$-a", code: why.CodeNodeCordoned, evidence: "Node/$-a spec.unschedulable", cures: true,
		},
		{
			name: "Another owner holds a key of a pool of the node", id: "node-conflict",
			steps: []step{
				node("$-a", label("causes.example/speed", "slow")), have(pool(", overwrite: Never, labels: {causes.example/speed: fast}")),
				until("nodepool/$", "status.conditions[Conflicted]", "True"),
			},
			ask: "nodes/$-a", code: "KeysHeldElsewhere", evidence: "NodePool/$ spec.overwrite", message: "causes.example/speed", shows: "KeysHeldElsewhere",
		},
	})
}

// membershipFaults keep a node out of a pool, or in it.
func membershipFaults() []fault {
	faults := slices.Concat(chosenFaults(), heldFaults())
	for i := range faults {
		if faults[i].ask == "" {
			faults[i].ask = "nodes/$-a?pool=$"
		}
	}
	return faults
}

func chosenFaults() []fault {
	return []fault{
		{
			name: "There is no such pool", id: "no-such-pool", steps: []step{node("$-a")},
			code: why.CodePoolMissing, message: "pool $ does not exist",
		},
		{
			name: "The node lacks the role label", id: "no-role", steps: []step{node("$-a"), have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}}`), empty()},
			code: why.CodeNotSelected, evidence: "Node/$-a metadata.labels", message: "node-role.kubernetes.io/$", cures: true,
		},
		{
			name: "The selector of the pool wants another label", id: "other-selector",
			steps: []step{node("$-a", label("disk", "hdd")), have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}, spec: {nodeSelector: {matchLabels: {fault: $, disk: ssd}}}}`), empty()},
			code:  why.CodeNotSelected, evidence: "NodePool/$ spec.nodeSelector", message: "disk=ssd", cures: true,
		},
		{
			name: "The address of the node is in no segment of the pool", id: "other-segment",
			steps: []step{
				node("$-a", func(n *corev1.Node) {
					n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "198.51.100.7"}}
				}),
				have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}, spec: {nodeCIDRs: [203.0.113.0/28]}}`), empty(),
			},
			code: why.CodeNotSelected, evidence: "NodePool/$ spec.nodeCIDRs", message: "198.51.100.7", cures: true,
		},
		{
			name: "The selector of the pool is not valid", id: "node-invalid-selector",
			steps: []step{node("$-a"), have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $}, spec: {nodeSelector: {matchLabels: {"not a key": x}}}}`)},
			code:  "InvalidSelector", evidence: "NodePool/$ spec", message: "not a key",
		},
	}
}

// careful gives the pool a label, which it writes to its members only while all of them are ready.
func careful() step {
	return change("nodepool/$", `spec: {labels: {causes.example/speed: fast}, rollout: {maxConcurrent: 1, maxUnavailable: 0}}`)
}

// four are members, and then steps.
func four(then ...step) []step {
	return slices.Concat([]step{have(pool("")), node("$-a"), node("$-b"), node("$-c"), node("$-d"), until("nodepool/$", "status.syncedNodeCount", "4")}, then)
}

// unselect makes the pool select other nodes.
func unselect() step {
	return change("nodepool/$", `spec: {nodeSelector: {matchLabels: {fault: other-than-$}}}`)
}

func heldFaults() []fault {
	return []fault{
		{
			name: "The brake holds a node that would leave with all others", id: "node-braked", steps: four(unselect(), until("nodepool/$", "status.conditions[SafetyBrake]", "True")),
			code: "TooManyLeaving", evidence: "NodePool/$ status.conditions[SafetyBrake]", message: "safety brake", cures: true,
		},
		{
			name: "A budget refuses to evict the pod of a node that leaves", id: "node-draining",
			steps: slices.Concat([]step{have(pool(", drain: {policy: Evict, timeoutSeconds: 0}")), node("$-a"), ready()}, keeping(),
				[]step{unselect(), until("nodepool/$", "status.conditions[Drained]", "DrainBlocked")}),
			code: "Draining", evidence: "NodePool/$ status.draining", message: "$-a has left pool $", shows: "DrainBlocked",
		},
		{
			name: "The pool is being deleted and waits for a pod", id: "node-pool-deleting",
			steps: []step{have(pool("")), node("$-a"), ready(), have(pod("web", inPool)), running("web"), remove("nodepool/$"), until("nodepool/$", "status.conditions[NodesSynced]", "InUse")},
			code:  "PoolDeleting", evidence: "Node/$-a metadata.annotations[nodes.lailin.xyz/applied]", message: "pool $ is being deleted", shows: "InUse",
		},
		{
			name: "The pool was paused before the node came", id: "node-pool-paused", steps: []step{have(pool("")), empty(), paused("nodepool/$"), node("$-a")},
			code: "PoolPaused", evidence: "NodePool/$ metadata.annotations[windlass.io/paused]", message: "pool $ is paused", cures: true,
		},
		{
			name: "The pool is in dry run", id: "node-dry-run", steps: []step{have(pool(", dryRun: true")), node("$-a"), until("nodepool/$", "status.conditions[NodesSynced]", "DryRun")},
			code: "DryRun", evidence: "NodePool/$ spec.dryRun", message: "dry run", cures: true,
		},
		{
			name: "The batch of the node has not come", id: "node-batch",
			steps: []step{
				node("$-a"), node("$-z", notReady), have(pool("")), until("nodepool/$", "status.syncedNodeCount", "2"), careful(),
				until("nodepool/$", "status.conditions[RolledOut]", "TooManyUnavailable"),
			},
			code: why.CodeWaitsForBatch, evidence: "NodePool/$ status.rollout.nodes", message: "waits for its batch", shows: "waitingNodeCount",
		},
		{
			name: "Another owner holds a label of the pool", id: "node-key-held",
			steps: []step{
				node("$-a", label("causes.example/speed", "slow")), have(pool(", overwrite: Never, labels: {causes.example/speed: fast}")),
				until("nodepool/$", "status.conditions[Conflicted]", "True"),
			},
			code: "KeysHeldElsewhere", evidence: "Node/$-a label causes.example/speed", message: "another owner", shows: "causes.example/speed",
		},
		{
			name: "A pool with a higher priority holds a label", id: "node-key-lost",
			steps: []step{
				have(pool(", labels: {causes.example/speed: fast}")),
				have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $-above}, spec: {priority: 10, nodeSelector: {matchLabels: {fault: $}}, labels: {causes.example/speed: slow}}}`),
				node("$-a"), until("nodepool/$", "status.conditions[Conflicted]", "True"),
			},
			code: "KeysHeldElsewhere", evidence: "NodePool/$ spec.priority", message: "pool $-above (priority 10)", shows: "causes.example/speed",
		},
		{
			name: "Another pool of the node is paused, so its start-up taint stays", id: "node-start-up",
			steps: []step{
				have(pool("")), have(`{apiVersion: nodes.lailin.xyz/v1, kind: NodePool, metadata: {name: $-other}, spec: {nodeSelector: {matchLabels: {fault: $}}, labels: {causes.example/speed: slow}}}`),
				empty(), until("nodepool/$-other", "status.conditions[Ready]", "NoNodes"), paused("nodepool/$-other"),
				node("$-a", taint("nodes.lailin.xyz/uninitialized")), until("nodepool/$", "status.nodeCount", "1"), until("node/$-a", "metadata.annotations", "$"),
			},
			code: why.CodeNodeClosed, evidence: "Node/$-a spec.taints", message: "$-other", shows: "nodes.lailin.xyz/uninitialized",
		},
	}
}
