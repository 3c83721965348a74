// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/membership"
	"github.com/windlass-operator/windlass/internal/status"
)

// MembershipUnseen is Membership for a caller who may not read the pools, and why.
func MembershipUnseen(node *corev1.Node, name, because string) *Explanation {
	w := newWalk(ObjectOf(kindNode, node))
	w.explanation.Pool = name
	w.skip(checkNodeIsMember, because)
	return w.end("")
}

// Membership explains why a node is not a member of the pool, or does not carry what the pool wants, or still does after it has left.
func Membership(node *corev1.Node, pools membership.Pools, name string) *Explanation {
	w := newWalk(ObjectOf(kindNode, node))
	w.explanation.Pool = name
	w.names = w.names.with(names{"pool": name})
	pool := pools[name]
	w.check(checkPoolExists, func() *finding {
		if pool != nil {
			return nil
		}
		return &finding{code: CodePoolMissing, message: fmt.Sprintf("pool %s does not exist", name)}
	})
	if pool == nil {
		return w.end("")
	}
	w.names = w.names.with(poolNames(pool))
	m := &memberWalk{walk: w, node: node, pool: pool, pools: pools, plan: membership.NewPlan(node, pools), chosen: pool.Selection(node)}
	m.check(checkPoolUnderstood, m.malformed)
	if m.hasLeft() {
		m.check(checkNodeGaveUp, m.stillCarries)
	}
	m.check(checkNodeIsMember, m.notChosen)
	m.note(m.because())
	m.check(checkPoolActs, m.held)
	m.check(checkBatchCame, m.deferred)
	m.check(checkNodeKeysFree, m.conflicted)
	m.check(checkNodeCarriesPool, m.pending)
	m.check(checkNoStartupTaint, m.closed)
	return w.end(fmt.Sprintf("Node %s is a member of pool %s and carries what it wants", node.Name, name))
}

// memberWalk explains a node and a pool.
type memberWalk struct {
	*walk

	node   *corev1.Node
	pool   *membership.Pool
	pools  membership.Pools
	plan   *membership.Plan
	chosen membership.Selection
}

func (m *memberWalk) ofPool(field, value string) Evidence {
	return fact(kindPool, m.pool, field, value)
}

func (m *memberWalk) ofNode(field, value string) Evidence {
	return fact(kindNode, m.node, field, value)
}

func (m *memberWalk) malformed() *finding {
	_, err := membership.NewPool(m.pool.NodePool)
	if err == nil {
		return nil
	}
	return &finding{code: nodesv1.ReasonInvalidSelector, message: err.Error(), evidence: []Evidence{m.ofPool("spec", err.Error())}}
}

func (m *memberWalk) isMember() bool { return m.chosen != membership.Selection{} }

// hasLeft reports whether the node is not a member and carries something of the pool.
func (m *memberWalk) hasLeft() bool {
	return (!m.isMember() || m.pool.DeletionTimestamp != nil) && carries(m.node, m.pool)
}

// carries reports whether the node carries something of the pool. One that is being drained has lost the member label already, and of a
// pool without labels and taints it carries nothing else.
func carries(node *corev1.Node, pool *membership.Pool) bool {
	return membership.Carries(node, pool.Name) || pool.Drains(node)
}

// stillCarries says what keeps a node from being cleaned that has left.
func (m *memberWalk) stillCarries() *finding {
	found := &finding{evidence: []Evidence{m.ofNode("metadata.annotations["+nodesv1.AppliedAnnotation+"]", m.node.Annotations[nodesv1.AppliedAnnotation])}}
	left := fmt.Sprintf("node %s has left pool %s", m.node.Name, m.pool.Name)
	brake := condition(m.pool, nodesv1.ConditionSafetyBrake)
	switch {
	case m.pool.DeletionTimestamp != nil:
		return m.goes(found.evidence[0])
	case m.pool.Holds():
		return m.held()
	case brake != nil && brake.Status == metav1.ConditionTrue:
		found.code, found.message = Code(brake.Reason), left+", and the safety brake holds it: "+brake.Message
		found.evidence = append(found.evidence, m.ofPool("status.conditions[SafetyBrake]", "True, "+brake.Reason))
	case m.pool.Drains(m.node):
		found.code, found.message = nodesv1.ReasonDraining, left+" and is being drained"
		found.evidence = append(found.evidence, m.ofPool("status.draining", m.node.Name))
	default:
		found.code, found.message = CodeLeaving, left+" and has not been cleaned yet"
	}
	return found
}

// goes says that the pool is being deleted, and what it waits for.
func (m *memberWalk) goes(evidence Evidence) *finding {
	found := &finding{code: CodePoolGoes, message: fmt.Sprintf("pool %s is being deleted", m.pool.Name), evidence: []Evidence{evidence}}
	if ready := condition(m.pool, status.Ready); ready != nil {
		found.message += ": " + ready.Message
	}
	return found
}

func condition(pool *membership.Pool, wanted string) *metav1.Condition {
	for i := range pool.Status.Conditions {
		if pool.Status.Conditions[i].Type == wanted {
			return &pool.Status.Conditions[i]
		}
	}
	return nil
}

// notChosen says what the pool selects by, and that none of it fits. A pool that is being deleted has no members.
func (m *memberWalk) notChosen() *finding {
	if m.pool.DeletionTimestamp != nil {
		return m.goes(m.ofPool("metadata.deletionTimestamp", m.pool.DeletionTimestamp.UTC().Format(time.RFC3339)))
	}
	if m.isMember() {
		return nil
	}
	role := nodesv1.RoleLabel(m.pool.Name)
	reasons := []string{fmt.Sprintf("it does not have the label %s from another owner", role)}
	evidence := []Evidence{m.ofNode("metadata.labels", labelsOf(m.node))}
	if selector := m.pool.Spec.NodeSelector; selector != nil {
		text := metav1.FormatLabelSelector(selector)
		reasons = append(reasons, "its labels do not match "+text)
		evidence = append(evidence, m.ofPool("spec.nodeSelector", text))
	}
	if segments := m.pool.Spec.NodeCIDRs; len(segments) > 0 {
		reasons = append(reasons, fmt.Sprintf("none of its internal addresses (%s) is in %s", strings.Join(addressesOf(m.node), ", "), strings.Join(textsOf(segments), ", ")))
		evidence = append(evidence, m.ofNode("status.addresses", strings.Join(addressesOf(m.node), ", ")), m.ofPool("spec.nodeCIDRs", strings.Join(textsOf(segments), ", ")))
	}
	return &finding{
		code: CodeNotSelected, evidence: evidence,
		message: fmt.Sprintf("node %s is not a member of pool %s: %s", m.node.Name, m.pool.Name, strings.Join(reasons, ", and ")),
	}
}

// because says what makes the node a member.
func (m *memberWalk) because() string {
	var parts []string
	if m.chosen.Role {
		parts = append(parts, "another owner has set the label "+nodesv1.RoleLabel(m.pool.Name))
	}
	if m.chosen.Selector {
		parts = append(parts, "its labels match "+metav1.FormatLabelSelector(m.pool.Spec.NodeSelector))
	}
	if m.chosen.Segment {
		parts = append(parts, "an internal address is in "+strings.Join(textsOf(m.pool.Spec.NodeCIDRs), ", "))
	}
	return strings.Join(parts, ", and ")
}

func addressesOf(node *corev1.Node) []string {
	var out []string
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			out = append(out, address.Address)
		}
	}
	return out
}

func textsOf(segments []nodesv1.CIDR) []string {
	out := make([]string, 0, len(segments))
	for _, segment := range segments {
		out = append(out, string(segment))
	}
	return out
}

// held says why the pool changes no node, where it would change this one.
func (m *memberWalk) held() *finding {
	switch {
	case !m.pool.Holds(), m.isMember() && m.complete():
		return nil
	case status.IsPaused(m.pool.NodePool):
		at, ends := pauseEnd(m.pool)
		return &finding{
			code: CodePoolHolds, message: fmt.Sprintf("pool %s is paused: it changes no node", m.pool.Name), at: at, ends: ends,
			evidence: []Evidence{m.ofPool("metadata.annotations["+status.PausedAnnotation+"]", m.pool.Annotations[status.PausedAnnotation])},
		}
	case m.pool.Spec.DryRun:
		return &finding{
			code: nodesv1.ReasonDryRun, message: fmt.Sprintf("pool %s is in dry run: it changes no node", m.pool.Name),
			evidence: []Evidence{m.ofPool("spec.dryRun", "true")},
		}
	}
	return &finding{
		code: status.ReasonNotObserved, message: fmt.Sprintf("Windlass has not looked at pool %s yet", m.pool.Name),
		evidence: []Evidence{m.ofPool("metadata.finalizers", strings.Join(m.pool.Finalizers, ", "))},
	}
}

// complete reports whether the node carries everything that the pool wants.
func (m *memberWalk) complete() bool {
	for key, value := range m.pool.Spec.Annotations {
		if have, present := m.node.Annotations[key]; !present || have != string(value) {
			return false
		}
	}
	for _, t := range m.pool.Spec.Taints {
		if !slices.ContainsFunc(m.node.Spec.Taints, func(have corev1.Taint) bool {
			return have.Key == t.Key && have.Value == t.Value && have.Effect == t.Effect
		}) {
			return false
		}
	}
	return isSynced(m.pool, m.node)
}

func (m *memberWalk) deferred() *finding {
	if !m.pool.Waits(m.node, m.pools) {
		return nil
	}
	batch := "none"
	if rollout := m.pool.Status.Rollout; rollout != nil && len(rollout.Nodes) > 0 {
		batch = examples(rollout.Nodes)
	}
	return &finding{
		code: CodeWaitsForBatch, message: fmt.Sprintf("node %s waits for its batch of the rollout; the present batch is %s", m.node.Name, batch),
		evidence: []Evidence{m.ofPool("status.rollout.nodes", batch)},
	}
}

func (m *memberWalk) conflicted() *finding {
	for _, conflict := range m.plan.Conflicts {
		if conflict.Pool != m.pool.Name {
			continue
		}
		holder := "another owner"
		if conflict.Holder != "" {
			holder = fmt.Sprintf("pool %s (priority %d)", conflict.Holder, m.pools[conflict.Holder].Spec.Priority)
		}
		return &finding{
			code: nodesv1.ReasonKeysHeldElsewhere, message: fmt.Sprintf("%s is held by %s, and pool %s wants another value", conflict.Key, holder, m.pool.Name),
			evidence: []Evidence{
				m.ofNode(conflict.Key, valueOf(m.node, conflict.Key)), m.ofPool("spec.priority", strconv.Itoa(int(m.pool.Spec.Priority))),
				m.ofPool("spec.overwrite", string(m.pool.Spec.Overwrite)),
			},
		}
	}
	return nil
}

func (m *memberWalk) pending() *finding {
	if m.complete() || !slices.Contains(m.plan.Pending, m.pool.Name) {
		return nil
	}
	return &finding{
		code: nodesv1.ReasonSyncingNodes, message: fmt.Sprintf("node %s does not carry everything of pool %s yet", m.node.Name, m.pool.Name),
		evidence: []Evidence{m.ofNode("metadata.labels", labelsOf(m.node))},
	}
}

func (m *memberWalk) closed() *finding {
	if !slices.ContainsFunc(m.node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == nodesv1.UninitializedTaint }) {
		return nil
	}
	found := &finding{
		code: CodeNodeClosed, message: fmt.Sprintf("node %s still has the taint %s with which it registered", m.node.Name, nodesv1.UninitializedTaint),
		evidence: []Evidence{m.ofNode("spec.taints", nodesv1.UninitializedTaint)},
	}
	for _, name := range m.plan.Members {
		if other := m.pools[name]; name != m.pool.Name && status.IsPaused(other.NodePool) && !isSynced(other, m.node) {
			found.message += fmt.Sprintf(": pool %s, of which it is a member as well, is paused", name)
			found.evidence = append(found.evidence, fact(kindPool, other, "metadata.annotations["+status.PausedAnnotation+"]", other.Annotations[status.PausedAnnotation]))
			break
		}
	}
	return found
}
