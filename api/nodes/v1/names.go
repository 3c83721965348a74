// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "strings"

// Labels, annotations and finalizers that Windlass reads and writes for pools.
const (
	// RoleLabelPrefix followed by a pool's name is the label, with any value, that makes a node a member.
	// kubectl prints such keys in the ROLES column of "kubectl get nodes".
	RoleLabelPrefix = "node-role.kubernetes.io/"

	// MemberLabelPrefix followed by a pool's name is the label that Windlass puts on every member of a pool without nodeCIDRs. The
	// node-restriction.kubernetes.io domain is closed to kubelets, so no kubelet can write it. It is as good as what makes a node a
	// member: kubelets can set most labels, and a pool that selects by those lets them in.
	MemberLabelPrefix = "nodepool.node-restriction.kubernetes.io/"

	// AddressLabelPrefix followed by a pool's name is the label of every member of a pool with nodeCIDRs, in place of the other one:
	// kubelets report their addresses, so this label says less. No kubelet can write it either.
	AddressLabelPrefix = "address.node-restriction.kubernetes.io/"

	// AppliedAnnotation records on a node, as JSON, which keys Windlass has applied there for which pool.
	AppliedAnnotation = "nodes.lailin.xyz/applied"

	// AcknowledgeAnnotation on a pool with its metadata.generation as value releases the safety brake once.
	AcknowledgeAnnotation = "nodes.lailin.xyz/acknowledge"

	// ForceDeleteAnnotation on a pool with the value "true" lets it be deleted while running pods name its RuntimeClass.
	ForceDeleteAnnotation = "nodes.lailin.xyz/force-delete"

	// BindingsRefusedAnnotation on a pool says why the API server refused an admission policy or binding of the pool's own. Windlass
	// sets and removes it; the condition AdmissionReady repeats it.
	BindingsRefusedAnnotation = "nodes.lailin.xyz/bindings-refused"

	// PoliciesRefusedAnnotation says the same of the admission policies that all pools share.
	PoliciesRefusedAnnotation = "nodes.lailin.xyz/policies-refused"

	// PoolLabel on a pod chooses the pool of that name, for pods that need another RuntimeClass than the pool's.
	PoolLabel = "nodes.lailin.xyz/pool"

	// DefaultAnnotation on a pod names the pool that it was given as the default of its namespace.
	DefaultAnnotation = "nodes.lailin.xyz/default-pool"

	// UninitializedTaint is the key of the taint that kubelets may register their nodes with
	// (--register-with-taints=nodes.lailin.xyz/uninitialized:NoSchedule), so that no pod lands there before the node carries what
	// its pools want. Windlass takes it off, whatever its value and effect, in the patch that completes the node, and never adds it.
	UninitializedTaint = "nodes.lailin.xyz/uninitialized"

	// Finalizer keeps a pool until its labels and taints are off every node.
	Finalizer = "nodes.lailin.xyz/finalizer"

	// LegacyFinalizer is the finalizer of the operator that Windlass replaces. It is never added, and removed
	// together with Finalizer.
	LegacyFinalizer = "node.finalizers.node-pool.lailin.xyz"
)

// RoleLabel returns the label key that makes a node a member of the pool.
func RoleLabel(pool string) string { return RoleLabelPrefix + pool }

// MemberLabel returns the label key of members of a pool of that name that has no nodeCIDRs. NodePool.MemberLabel knows which one a pool has.
func MemberLabel(pool string) string { return MemberLabelPrefix + pool }

// AddressLabel returns the label key of members of a pool of that name that has nodeCIDRs.
func AddressLabel(pool string) string { return AddressLabelPrefix + pool }

// MemberLabels returns both keys: which one members of the pool carry depends on its spec, and while that changes some carry both.
func MemberLabels(pool string) []string { return []string{MemberLabel(pool), AddressLabel(pool)} }

// CutMemberLabel returns the name of the pool whose member label the key is, if it is one.
func CutMemberLabel(key string) (pool string, found bool) {
	for _, prefix := range []string{MemberLabelPrefix, AddressLabelPrefix} {
		if pool, found = strings.CutPrefix(key, prefix); found && pool != "" {
			return pool, true
		}
	}
	return "", false
}
