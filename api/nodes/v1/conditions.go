// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a NodePool, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionNodesSynced is True when every member carries all labels and taints of the pool.
	ConditionNodesSynced = "NodesSynced"
	// ConditionRuntimeClassReady is True when the pool's RuntimeClass is as the pool wants it.
	ConditionRuntimeClassReady = "RuntimeClassReady"
	// ConditionConflicted is True when another pool or another owner holds a key of this pool on a member.
	ConditionConflicted = "Conflicted"
	// ConditionHandlerAvailable is True when every member that reports its container runtime handlers offers the pool's.
	ConditionHandlerAvailable = "HandlerAvailable"
	// ConditionAdmissionReady is True when the admission policies by which pods choose the pool are in place.
	ConditionAdmissionReady = "AdmissionReady"
	// ConditionSafetyBrake is True when so many nodes would leave the pool at once that a person has to acknowledge it.
	ConditionSafetyBrake = "SafetyBrake"
	// ConditionRolledOut is True when no member waits for its batch under spec.rollout. Pools without spec.rollout do not have it.
	ConditionRolledOut = "RolledOut"
	// ConditionDrained is True when no node that left has pods to be evicted under spec.drain. Pools without spec.drain do not
	// have it.
	ConditionDrained = "Drained"
)

// Reasons of a NodePool's conditions and events.
const (
	// ReasonNodesSynced says that every member carries the pool's labels and taints.
	ReasonNodesSynced = "NodesSynced"
	// ReasonSyncingNodes says that some members have not been written yet.
	ReasonSyncingNodes = "SyncingNodes"
	// ReasonNoNodes says that the pool has no member; that is a healthy state.
	ReasonNoNodes = "NoNodes"
	// ReasonRuntimeClassReady says that the RuntimeClass is as the pool wants it.
	ReasonRuntimeClassReady = "RuntimeClassReady"
	// ReasonRuntimeClassPending says that the RuntimeClass has not been written yet.
	ReasonRuntimeClassPending = "RuntimeClassPending"
	// ReasonRuntimeClassRefused says that the API server refused the RuntimeClass.
	ReasonRuntimeClassRefused = "RuntimeClassRefused"
	// ReasonNameConflict says that a RuntimeClass of the pool's name, or an admission policy or binding, exists and is not the pool's.
	ReasonNameConflict = "NameConflict"
	// ReasonKeysHeldElsewhere says that keys of the pool are held by another pool or by another owner.
	ReasonKeysHeldElsewhere = "KeysHeldElsewhere"
	// ReasonNoConflict says that no other owner holds a key of the pool.
	ReasonNoConflict = "NoConflict"
	// ReasonDryRun says that spec.dryRun keeps the pool from touching nodes.
	ReasonDryRun = "DryRun"
	// ReasonInvalidSelector says that a selector or spec.nodeCIDRs is not valid.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonHandlerAvailable says that every member that reports its handlers offers the pool's.
	ReasonHandlerAvailable = "HandlerAvailable"
	// ReasonHandlerMissing says that members do not offer the pool's handler: pods of the pool cannot start there.
	ReasonHandlerMissing = "HandlerMissing"
	// ReasonHandlersUnknown says that no member reports its handlers, as before Kubernetes 1.30.
	ReasonHandlersUnknown = "HandlersUnknown"
	// ReasonAdmissionReady says that the admission policies are in place.
	ReasonAdmissionReady = "AdmissionReady"
	// ReasonAdmissionPending says that the admission policies are being written.
	ReasonAdmissionPending = "AdmissionPending"
	// ReasonAdmissionUnsupported says that the API server lacks an API that choosing the pool needs; its RuntimeClass works.
	ReasonAdmissionUnsupported = "AdmissionUnsupported"
	// ReasonAdmissionRefused says that the API server refused an admission policy or binding.
	ReasonAdmissionRefused = "AdmissionRefused"
	// ReasonTooManyLeaving says that more of the pool's nodes would leave at once than may without an acknowledgement.
	ReasonTooManyLeaving = "TooManyLeaving"
	// ReasonBrakeReleased says that the nodes that are leaving may go.
	ReasonBrakeReleased = "BrakeReleased"
	// ReasonRolledOut says that every member has followed.
	ReasonRolledOut = "RolledOut"
	// ReasonRollingOut says that the nodes of a batch are being changed while others wait for theirs.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutPausing says that members wait for the pause between two batches to end.
	ReasonRolloutPausing = "RolloutPausing"
	// ReasonTooManyUnavailable says that no batch begins because more members are not Ready than spec.rollout allows.
	ReasonTooManyUnavailable = "TooManyUnavailable"
	// ReasonNothingToDrain says that no node is leaving with pods to be evicted.
	ReasonNothingToDrain = "NothingToDrain"
	// ReasonDraining says that pods are being evicted from nodes that left the pool.
	ReasonDraining = "Draining"
	// ReasonDrainBlocked says that the eviction of pods is being refused, usually by disruption budgets.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonInUse says that the pool is being deleted and running pods chose it, by its RuntimeClass or by label.
	ReasonInUse = "InUse"
	// ReasonCleaningNodes says that the pool is being deleted and nodes still carry its labels or taints.
	ReasonCleaningNodes = "CleaningNodes"
)

// Reasons of events.
const (
	// ReasonNodesJoined is the reason of the event for nodes that became members.
	ReasonNodesJoined = "NodesJoined"
	// ReasonNodesLeft is the reason of the event for nodes that are no longer members.
	ReasonNodesLeft = "NodesLeft"
	// ReasonDriftRepaired is the reason of the event for a label or taint that another writer changed and Windlass changed back.
	ReasonDriftRepaired = "DriftRepaired"
	// ReasonKeysAbandoned is the reason of the event for keys that a node's record names and no pool confirms.
	ReasonKeysAbandoned = "KeysAbandoned"
	// ReasonNodeRefused is the reason of the event for a node whose patch the API server refused.
	ReasonNodeRefused = "NodeRefused"
	// ReasonRuntimeClassCreated is the reason of the event for a created RuntimeClass.
	ReasonRuntimeClassCreated = "RuntimeClassCreated"
	// ReasonRuntimeClassUpdated is the reason of the event for a RuntimeClass that follows its pool, or was put right.
	ReasonRuntimeClassUpdated = "RuntimeClassUpdated"
	// ReasonRuntimeClassRecreated is the reason of the event for a RuntimeClass created anew for another handler.
	ReasonRuntimeClassRecreated = "RuntimeClassRecreated"
	// ReasonWouldEvict is the reason of the event for running pods that a new NoExecute taint is about to delete.
	ReasonWouldEvict = "WouldEvict"
	// ReasonPodsEvicted is the reason of the event for pods that were evicted from nodes that left the pool.
	ReasonPodsEvicted = "PodsEvicted"
	// ReasonDrainTimedOut is the reason of the event for a node that leaves with pods of the pool still running.
	ReasonDrainTimedOut = "DrainTimedOut"
	// ReasonCleaned is the reason of the event for a deleted pool whose labels and taints are off every node.
	ReasonCleaned = "Cleaned"
)
