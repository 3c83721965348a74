// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package view

// PoolPreview is what a change of a NodePool would do.
type PoolPreview struct {
	// Pool is the name of the pool, and Creates is true if it does not exist yet.
	Pool    string `json:"pool" doc:"Name of the pool"`
	Creates bool   `json:"creates" doc:"Whether the pool does not exist yet"`
	// Held is true for a pool that is paused.
	Held bool `json:"held" doc:"Whether the pool is paused: nothing follows until it is not"`
	// DryRun is true for a pool in dry run.
	DryRun bool `json:"dryRun" doc:"Whether spec.dryRun is set: what is foreseen follows when it is not"`
	// Counts of nodes.
	Members int `json:"members" doc:"How many members the pool would have"`
	Joining int `json:"joining" doc:"How many nodes would join"`
	Leaving int `json:"leaving" doc:"How many nodes would leave"`
	Changed int `json:"changed" doc:"How many nodes would join, leave or change"`
	// Braked is true where the safety brake would hold.
	Braked bool `json:"braked" doc:"Whether the safety brake would hold the nodes that leave, until somebody acknowledges it"`
	// Batch are the nodes of the first batch of a bounded rollout.
	Batch   []string `json:"batch,omitempty" nullable:"false" doc:"The nodes of the first batch, if spec.rollout bounds it"`
	Waiting int      `json:"waiting" doc:"How many nodes wait for a later batch"`
	// Nodes are the first that join, leave or change.
	Nodes []NodePreview `json:"nodes" nullable:"false" doc:"The nodes that join, leave or change, by name: at most 500"`
	// Pods are those that new taints delete.
	Pods     []Named `json:"pods" nullable:"false" doc:"The running pods that a new NoExecute taint would delete: at most 500"`
	PodCount int     `json:"podCount" doc:"How many these are"`
	// PodsHidden says why pods are not counted.
	PodsHidden string `json:"podsHidden,omitempty" doc:"Why pods are not counted" example:"you may not list pods in all namespaces"`
}

// NodePreview is what would become of a node.
type NodePreview struct {
	// Name of the node.
	Name string `json:"name" doc:"Name of the node"`
	// Membership is what becomes of it.
	Membership string `json:"membership" enum:"Joins,Leaves,Stays" doc:"What becomes of its membership"`
	// Drains is true where pods are evicted before it is cleaned.
	Drains bool `json:"drains" doc:"Whether its pods are evicted before it is cleaned (spec.drain)"`
	// Changes of its keys.
	Changes []KeyChange `json:"changes" nullable:"false" doc:"The changes of its labels, annotations and taints"`
	// Conflicts are keys that the pool does not get.
	Conflicts []KeyConflict `json:"conflicts" nullable:"false" doc:"The keys that the pool wants on the node and would not get"`
}

// KeyChange is what would become of a label, an annotation or a taint.
type KeyChange struct {
	// Key of the label, annotation or taint.
	Key string `json:"key" doc:"The key: label KEY, annotation KEY or taint KEY:EFFECT"`
	// Before and After are its values.
	Before *string `json:"before,omitempty" doc:"The value now; left out if the node does not have the key"`
	After  *string `json:"after,omitempty" doc:"The value then; left out if the node would not have the key"`
	// Pool has the key then.
	Pool string `json:"pool,omitempty" doc:"The pool that has the key then; left out for another owner"`
}

// KeyConflict is a key that somebody else has.
type KeyConflict struct {
	// Key of the label, annotation or taint.
	Key string `json:"key" doc:"The key: label KEY, annotation KEY or taint KEY:EFFECT"`
	// Pool has the key.
	Pool string `json:"pool,omitempty" doc:"The pool that has the key; left out for another owner"`
}
