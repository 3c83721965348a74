// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Package membership decides what a node has to carry for the pools it is in. It is pure: from a node and all pools it computes one
// plan, and from the plan one patch.
//
// A node may be in many pools, so nothing here is computed per pool. Two records decide what may be taken off a node: the
// node's own annotation, which says which key was put there for which pool, and the ledger in the pool's status, which
// says which keys the pool may have put anywhere. A key goes only if both name it. A kubelet may write the annotations of
// its own node, so the annotation alone would let a compromised node shed a taint.
package membership

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/status"
)

// Pool is a pool with its selectors ready for use.
type Pool struct {
	*nodesv1.NodePool

	selector labels.Selector
	segments []netip.Prefix
	// marks are the labels that show the pool on a node, and quoted is its name as a record has it.
	marks  []string
	quoted string
}

// NewPool prepares a pool. It is refused when a selector is malformed; such a pool selects no node.
func NewPool(pool *nodesv1.NodePool) (*Pool, error) {
	p := &Pool{
		NodePool: pool, selector: labels.Nothing(),
		marks: append(nodesv1.MemberLabels(pool.Name), nodesv1.RoleLabel(pool.Name)), quoted: `"` + pool.Name + `"`,
	}
	for _, segment := range pool.Spec.NodeCIDRs {
		prefix, err := netip.ParsePrefix(string(segment))
		if err != nil {
			return p, fmt.Errorf("cannot read spec.nodeCIDRs: %w", err)
		}
		p.segments = append(p.segments, prefix.Masked())
	}
	if empty(pool.Spec.NodeSelector) {
		return p, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(pool.Spec.NodeSelector)
	if err != nil {
		return p, fmt.Errorf("cannot read spec.nodeSelector: %w", err)
	}
	p.selector = selector
	return p, nil
}

// Selects reports whether nodes become members without a role label that another owner has set.
func (p *Pool) Selects() bool { return len(p.segments) > 0 || !empty(p.Spec.NodeSelector) }

// selects reports whether the selector or a segment of the pool matches the node.
func (p *Pool) selects(node *corev1.Node, own []string) bool {
	return p.selectsLabels(node, own) || p.selectsAddress(node)
}

// selectsLabels reports whether the selector matches. What the pool itself has put on the node does not count: a pool that selects its
// own label could never let a node go.
func (p *Pool) selectsLabels(node *corev1.Node, own []string) bool {
	if empty(p.Spec.NodeSelector) {
		return false
	}
	return p.selector.Matches(foreign{node.Labels, own})
}

// foreign are labels of a node without some of them. A copy of the labels for each pool and node is what most memory would be allocated for.
type foreign struct {
	all labels.Set
	own []string
}

// Has implements labels.Labels.
func (f foreign) Has(label string) bool { return f.all.Has(label) && !slices.Contains(f.own, label) }

// Get implements labels.Labels.
func (f foreign) Get(label string) string {
	value, _ := f.Lookup(label)
	return value
}

// Lookup implements labels.Labels.
func (f foreign) Lookup(label string) (value string, exists bool) {
	if slices.Contains(f.own, label) {
		return "", false
	}
	return f.all.Lookup(label)
}

// selectsAddress reports whether a segment has an internal address of the node.
func (p *Pool) selectsAddress(node *corev1.Node) bool {
	if len(p.segments) == 0 {
		return false
	}
	return slices.ContainsFunc(node.Status.Addresses, func(address corev1.NodeAddress) bool {
		ip, err := netip.ParseAddr(address.Address)
		return address.Type == corev1.NodeInternalIP && err == nil &&
			slices.ContainsFunc(p.segments, func(segment netip.Prefix) bool { return segment.Contains(ip.Unmap()) })
	})
}

// Has reports whether the node is a member: by a role label that another owner has set, or because the pool selects it.
func (p *Pool) Has(node *corev1.Node) bool { return p.has(node, ParseRecord(node)) }

func (p *Pool) has(node *corev1.Node, record Record) bool {
	role, own := nodesv1.RoleLabel(p.Name), p.own(node, record)
	if _, labelled := node.Labels[role]; labelled && !slices.Contains(own, role) {
		return true
	}
	return p.Selects() && p.selects(node, own)
}

// own returns the labels that Windlass has put on the node for the pool. The record is the node's own word, so a label counts only
// where the ledger confirms it, and a role label only without a value: Windlass gives it none.
func (p *Pool) own(node *corev1.Node, record Record) []string {
	var own []string
	for _, key := range record[p.Name].Labels {
		if confirms(p.Status.Ledger, onLabels, key) && (key != nodesv1.RoleLabel(p.Name) || node.Labels[key] == "") {
			own = append(own, key)
		}
	}
	return own
}

// Concerns reports whether the node is a member, or carries something of the pool. Most nodes are decided on by their labels: only the
// record of one that mentions the pool is parsed. Names of pools need no escapes, but JSON allows them, and the record is the node's own word.
func (p *Pool) Concerns(node *corev1.Node) bool {
	for _, mark := range p.marks {
		if _, there := node.Labels[mark]; there {
			return true
		}
	}
	if raw := node.Annotations[nodesv1.AppliedAnnotation]; !strings.Contains(raw, p.quoted) && !strings.Contains(raw, `\`) {
		return p.Selects() && p.selects(node, nil)
	}
	record := ParseRecord(node)
	_, recorded := record[p.Name]
	return recorded || p.has(node, record)
}

// left reports whether the node is no longer a member, or the pool is being deleted.
func (p *Pool) left(node *corev1.Node, record Record) bool {
	return p.DeletionTimestamp != nil || !p.has(node, record)
}

// defers reports whether the pool bounds its rollout and the node is not in the present batch.
func (p *Pool) defers(node *corev1.Node) bool {
	if p.Spec.Rollout == nil || p.DeletionTimestamp != nil {
		return false
	}
	return p.Status.Rollout == nil || !slices.Contains(p.Status.Rollout.Nodes, node.Name)
}

// unbounded returns the pool as if all of its nodes were in the present batch.
func (p *Pool) unbounded() *Pool {
	unbounded, pool := *p, *p.NodePool
	pool.Spec.Rollout = nil
	unbounded.NodePool = &pool
	return &unbounded
}

// paused returns the pool as if somebody had paused it.
func (p *Pool) paused() *Pool {
	paused, pool := *p, *p.NodePool
	pool.Annotations = maps.Clone(pool.Annotations)
	metav1.SetMetaDataAnnotation(&pool.ObjectMeta, status.PausedAnnotation, "true")
	paused.NodePool = &pool
	return &paused
}

// Drains reports whether pods of the pool are being evicted from the node, which has left it.
func (p *Pool) Drains(node *corev1.Node) bool {
	return slices.ContainsFunc(p.Status.Draining, func(d nodesv1.DrainingNode) bool {
		return d.UID == node.UID && !d.Drained
	})
}

// enters reports whether the status of the pool has an entry for the drain of the node, also one that is over.
func (p *Pool) enters(node *corev1.Node) bool {
	return slices.ContainsFunc(p.Status.Draining, func(d nodesv1.DrainingNode) bool { return d.UID == node.UID })
}

// holds reports whether what the pool has on nodes stays as it is: nothing is added, changed or removed for a pool that is
// paused or in dry run, or that has no finalizer and so could vanish without being cleaned up.
func (p *Pool) holds() bool {
	if p.DeletionTimestamp != nil {
		return false
	}
	return status.IsPaused(p.NodePool) || p.Spec.DryRun || !slices.Contains(p.Finalizers, nodesv1.Finalizer)
}

// begins reports whether the pool holds only because its finalizer is still to come.
func (p *Pool) begins() bool {
	return !status.IsPaused(p.NodePool) && !p.Spec.DryRun && !slices.Contains(p.Finalizers, nodesv1.Finalizer)
}

// settled reports whether the pool's status says that all its nodes match its current spec.
func (p *Pool) settled() bool {
	synced := meta.FindStatusCondition(p.Status.Conditions, nodesv1.ConditionNodesSynced)
	return synced != nil && synced.Status == metav1.ConditionTrue && synced.ObservedGeneration == p.Generation
}

// Pools are all pools by name.
type Pools map[string]*Pool

// NewPools prepares the pools of a list. It refers to the list's items and does not copy them. The status of a malformed
// pool reports what is wrong with it.
func NewPools(list *nodesv1.NodePoolList) Pools {
	pools := make(Pools, len(list.Items))
	for i := range list.Items {
		pools[list.Items[i].Name], _ = NewPool(&list.Items[i])
	}
	return pools
}

// Holding returns the pools, of which all but these hold what they have on nodes, as if they were paused.
func (p Pools) Holding(but []string) Pools {
	held := maps.Clone(p)
	for name, pool := range p {
		if !slices.Contains(but, name) {
			held[name] = pool.paused()
		}
	}
	return held
}

// members returns the pools that the node is in, the one that wins a conflict first: by priority, then the older one, then
// by name.
func (p Pools) members(node *corev1.Node, record Record) []*Pool {
	var members []*Pool
	for _, pool := range p {
		if pool.has(node, record) {
			members = append(members, pool)
		}
	}
	slices.SortFunc(members, func(a, b *Pool) int {
		return cmp.Or(
			cmp.Compare(b.Spec.Priority, a.Spec.Priority),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	return members
}

// Of returns the names of the pools whose role label the node has, sorted. Kubernetes and other tools set role labels too,
// so not every name is that of a pool.
func Of(node client.Object) []string {
	var names []string
	for key := range node.GetLabels() {
		if name, ok := strings.CutPrefix(key, nodesv1.RoleLabelPrefix); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Concerned returns the names of all pools whose role label the node has or that have left something on it, sorted.
func Concerned(node client.Object) []string {
	return sortedUnique(slices.Concat(Of(node), Joined(node), ParseRecord(node).pools()))
}
