// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"

// Causes that keep a node out of a pool, or in it.
const (
	// CodePoolMissing is for a pool that does not exist.
	CodePoolMissing Code = "PoolNotFound"
	// CodeNotSelected is for a node that nothing makes a member of the pool.
	CodeNotSelected Code = "NotSelected"
	// CodePoolGoes is for a pool that is being deleted.
	CodePoolGoes Code = "PoolDeleting"
	// CodePoolHolds is for a pool that is paused.
	CodePoolHolds Code = "PoolPaused"
	// CodeLeaving is for a node that has left the pool and is about to be cleaned.
	CodeLeaving Code = "Leaving"
	// CodeWaitsForBatch is for a node whose batch has not come.
	CodeWaitsForBatch Code = "WaitsForBatch"
	// CodeNodeClosed is for a node that still has the taint with which it registered.
	CodeNodeClosed Code = "NodeUninitialized"
	// CodeNodeCordoned is for a node that accepts no new pods.
	CodeNodeCordoned Code = "NodeCordoned"
	// CodeNodePressure is for a node that is short of memory, disk space or process ids.
	CodeNodePressure Code = "NodePressure"
)

// nodeCodes returns the codes of a node and a pool.
func nodeCodes() map[Code]row {
	return map[Code]row{
		CodeNodeNotReady:              asks("Find out why the node is not ready.", "kubectl describe node {name}"),
		CodeNodePressure:              asks("Free what the node is short of.", "kubectl describe node {name}"),
		CodeNodeCordoned:              asks("Uncordon the node.", "kubectl uncordon {name}"),
		CodePoolMissing:               asks("Create the pool, or correct its name.", "kubectl get nodepools.nodes.lailin.xyz"),
		nodesv1.ReasonInvalidSelector: asks("Correct the selector or the segment that the message names.", "kubectl edit nodepools.nodes.lailin.xyz {pool}"),
		CodeNotSelected:               asks("Give the node the role label of the pool, or correct the pool.", "kubectl label node {name} node-role.kubernetes.io/{pool}="),
		CodePoolGoes:                  waits("The pool goes when its nodes have lost what they have of it.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		CodePoolHolds:                 asks("Remove the annotation to continue.", "kubectl annotate nodepools.nodes.lailin.xyz {pool} windlass.io/paused-"),
		nodesv1.ReasonDryRun:          asks("Read status.dryRun of the pool, then set spec.dryRun to false.", `kubectl patch nodepools.nodes.lailin.xyz {pool} --type merge -p '{"spec":{"dryRun":false}}'`),
		nodesv1.ReasonTooManyLeaving:  asks("Correct the labels or the selector, or acknowledge that the nodes leave.", "kubectl annotate nodepools.nodes.lailin.xyz {pool} nodes.lailin.xyz/acknowledge={generation} --overwrite"),
		nodesv1.ReasonDraining:        waits("The pods of the pool are evicted first. If it stays, look at the pods that the status of the pool names.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		CodeLeaving:                   waits("The node is cleaned within moments. If it stays, look at the events of the pool.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		CodeWaitsForBatch:             waits("The node follows when its batch comes.", "kubectl get nodepools.nodes.lailin.xyz {pool} -o jsonpath='{.status.rollout}'"),
		nodesv1.ReasonKeysHeldElsewhere: asks("Make the values equal, change priority or overwrite of the pool, or remove the key from one side.",
			"kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		nodesv1.ReasonSyncingNodes: waits("The node is written within moments. If it stays, look at the events of the pool for NodeRefused.", "kubectl describe nodepools.nodes.lailin.xyz {pool}"),
		CodeNodeClosed:             waits("The taint goes once the node carries everything of its pools.", "kubectl describe node {name}"),
	}
}

// poolCodes returns the codes of NodePools.
func poolCodes() map[Code]row {
	return map[Code]row{
		nodesv1.ReasonNoNodes:              asks("Label a node, or correct the selector, if you expected members.", "kubectl get nodes --show-labels"),
		nodesv1.ReasonSyncingNodes:         waits("If it stays, look at the events of the pool for NodeRefused.", describeCommand),
		nodesv1.ReasonCleaningNodes:        waits("If it stays, look at the events of the pool for NodeRefused.", describeCommand),
		nodesv1.ReasonRuntimeClassPending:  waits("If it stays, read the log of Windlass.", managerLog),
		nodesv1.ReasonRuntimeClassRefused:  asks("Correct what the API server says.", describeCommand),
		nodesv1.ReasonNameConflict:         asks("Delete or rename what the message names: the pool continues by itself.", describeCommand),
		nodesv1.ReasonKeysHeldElsewhere:    asks("Make the values equal, change priority or overwrite, or remove the key from one side.", describeCommand),
		nodesv1.ReasonDryRun:               asks("Read status.dryRun, then set spec.dryRun to false.", `kubectl patch nodepools.nodes.lailin.xyz {name} --type merge -p '{"spec":{"dryRun":false}}'`),
		nodesv1.ReasonInvalidSelector:      asks("Correct what the message names.", "kubectl edit nodepools.nodes.lailin.xyz {name}"),
		nodesv1.ReasonHandlerMissing:       asks("Install the runtime on the nodes, or choose another handler.", "kubectl get nodes -o custom-columns=NAME:.metadata.name,HANDLERS:.status.runtimeHandlers[*].name"),
		nodesv1.ReasonAdmissionPending:     waits("If it stays, read the log of Windlass.", managerLog),
		nodesv1.ReasonAdmissionUnsupported: asks("Use Kubernetes 1.36 or later, or drop the fields that the message names.", "kubectl version"),
		nodesv1.ReasonAdmissionRefused:     asks("Correct what the API server says.", describeCommand),
		nodesv1.ReasonTooManyLeaving:       asks("Correct the labels or the selector, or acknowledge that the nodes leave.", "kubectl annotate nodepools.nodes.lailin.xyz {name} nodes.lailin.xyz/acknowledge={generation} --overwrite"),
		nodesv1.ReasonRollingOut:           waits("If it stays, look at the events of the pool for NodeRefused.", describeCommand),
		nodesv1.ReasonRolloutPausing:       waits("The next batch begins after spec.rollout.pauseSeconds.", "kubectl get nodepools.nodes.lailin.xyz {name} -o jsonpath='{.status.rollout}'"),
		nodesv1.ReasonTooManyUnavailable:   asks("Look at the members that are not ready: the rollout continues by itself.", "kubectl get nodes"),
		nodesv1.ReasonDraining:             waits("If it stays, look at the pods that the status names.", "kubectl get nodepools.nodes.lailin.xyz {name} -o jsonpath='{.status.draining}'"),
		nodesv1.ReasonDrainBlocked:         asks("Make room for the replacements of the pods, or wait for spec.drain.timeoutSeconds.", "kubectl get poddisruptionbudgets --all-namespaces"),
		nodesv1.ReasonInUse:                asks("End the pods that name the pool, or delete it anyway.", "kubectl annotate nodepools.nodes.lailin.xyz {name} nodes.lailin.xyz/force-delete=true"),
	}
}
