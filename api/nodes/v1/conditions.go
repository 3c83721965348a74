// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a NodePool, besides Ready, Reconciling, Stalled and Paused, which every kind has.
const (
	// ConditionNodesSynced is True when every member carries all labels and taints of the pool.
	ConditionNodesSynced = "NodesSynced"
	// ConditionRuntimeClassReady is True when the pool's RuntimeClass is as the pool wants it.
	ConditionRuntimeClassReady = "RuntimeClassReady"
	// ConditionConflicted is True when another pool, or somebody else, holds a key of this pool on a member.
	ConditionConflicted = "Conflicted"
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
	// ReasonNameConflict says that a RuntimeClass of the pool's name exists and is not the pool's.
	ReasonNameConflict = "NameConflict"
	// ReasonKeysHeldElsewhere says that keys of the pool are held by another pool or by somebody else.
	ReasonKeysHeldElsewhere = "KeysHeldElsewhere"
	// ReasonNoConflict says that no key of the pool is held by anybody else.
	ReasonNoConflict = "NoConflict"
	// ReasonCleaningNodes says that the pool is being deleted and nodes still carry its labels or taints.
	ReasonCleaningNodes = "CleaningNodes"
)

// Reasons of events.
const (
	// ReasonNodesJoined is the reason of the event for nodes that became members.
	ReasonNodesJoined = "NodesJoined"
	// ReasonNodesLeft is the reason of the event for nodes that are no longer members.
	ReasonNodesLeft = "NodesLeft"
	// ReasonDriftRepaired is the reason of the event for a label or taint that somebody changed and Windlass changed back.
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
	// ReasonCleaned is the reason of the event for a deleted pool whose labels and taints are off every node.
	ReasonCleaned = "Cleaned"
)
