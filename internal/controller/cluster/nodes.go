// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	clusterprovisionerv1alpha1 "github.com/windlass-operator/windlass/api/clusterprovisioner/v1alpha1"
	"github.com/windlass-operator/windlass/internal/provision"
	"github.com/windlass-operator/windlass/internal/status"
)

// Bounds of what the status lists of nodes, as its schema says. Texts are in bytes.
const (
	maxItems   = 100
	maxName    = 253
	maxRoles   = 16
	maxReason  = 128
	maxAddress = 64
)

// node is what is kept of a node of the cluster, which the manager does not trust: everything in it is bounded, and fits into the status. Two of them
// are equal if a reader of the status sees the same.
type node struct {
	name string
	// address is its internal and external its external IP address; empty if it does not say.
	address, external string
	// roles, sorted and separated by commas, which no role has.
	roles           string
	ready           metav1.ConditionStatus
	reason, version string
	unschedulable   bool
	// since is the second in which ready changed, as in Unix time; 0 if it is not known.
	since int64
}

// nodesOf returns what the status says of the machines that the configuration names and of the nodes that the cluster has. It is not known whether a
// machine has joined until the nodes have been listed.
func nodesOf(machines []provision.Node, nodes []node, listed bool) *clusterprovisionerv1alpha1.ClusterNodes {
	reason := clusterprovisionerv1alpha1.NodeNotProbed
	if listed {
		reason = clusterprovisionerv1alpha1.NodeNotJoined
	}
	written := &clusterprovisionerv1alpha1.ClusterNodes{Desired: count(machines)}
	var items []clusterprovisionerv1alpha1.ClusterNode
	for _, each := range nodes {
		items = append(items, each.item())
		if each.ready == metav1.ConditionTrue {
			written.Ready++
		}
	}
	names := make(map[string]bool, len(nodes))
	for _, each := range nodes {
		names[each.name] = true
	}
	for _, machine := range missing(machines, nodes) {
		name := status.Clip(machine.Name, maxName)
		if names[name] { // two names that are too long can begin alike
			continue
		}
		names[name] = true
		items = append(items, clusterprovisionerv1alpha1.ClusterNode{
			Name: name, Address: status.Clip(machine.Address, maxName), Roles: sortedRoles(machine.Roles), Ready: metav1.ConditionUnknown, Reason: reason,
		})
	}
	slices.SortFunc(items, troubleFirst)
	written.Total = count(items)
	written.Items = items[:min(len(items), maxItems)]
	return written
}

// count returns the length of a list as the status has it.
func count[T any](list []T) int32 { return int32(min(len(list), math.MaxInt32)) }

// item returns the node as the status lists it.
func (n node) item() clusterprovisionerv1alpha1.ClusterNode {
	item := clusterprovisionerv1alpha1.ClusterNode{
		Name: n.name, Address: n.address, Ready: n.ready, Reason: n.reason, Unschedulable: n.unschedulable, Version: n.version,
	}
	if n.roles != "" {
		item.Roles = strings.Split(n.roles, ",")
	}
	if n.since != 0 {
		item.Since = new(metav1.Unix(n.since, 0))
	}
	return item
}

// missing returns the machines that are not nodes. A node is a machine's if it has its name, or else its address and no name of another machine: a
// cloud may name nodes itself.
func missing(machines []provision.Node, nodes []node) []provision.Node {
	named, addressed := make(map[string]int, len(nodes)), make(map[string]int, 2*len(nodes))
	for i, each := range nodes {
		named[each.name] = i
		for _, address := range []string{each.address, each.external} {
			if address != "" {
				addressed[address] = i
			}
		}
	}
	taken := make([]bool, len(nodes))
	others := slices.DeleteFunc(slices.Clone(machines), func(machine provision.Node) bool {
		i, found := named[strings.ToLower(machine.Name)] // a kubelet writes its name in small letters
		if found {
			taken[i] = true
		}
		return found
	})
	return slices.DeleteFunc(others, func(machine provision.Node) bool {
		i, found := addressed[ipOf(machine.Address)]
		if !found || taken[i] {
			return false
		}
		taken[i] = true
		return true
	})
}

// troubleFirst orders what is not ready before what is, and then by name: a cut at the end hides no trouble before it hides what is well.
func troubleFirst(a, b clusterprovisionerv1alpha1.ClusterNode) int {
	well := func(item clusterprovisionerv1alpha1.ClusterNode) int {
		if item.Ready == metav1.ConditionTrue {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(well(a), well(b)), strings.Compare(a.Name, b.Name))
}

// keep returns what is kept of a node, and whether it can be one at all: a name that no API server accepts cannot be in the status either.
func keep(of *corev1.Node) (kept node, valid bool) {
	if len(of.Name) > maxName || len(validation.IsDNS1123Subdomain(of.Name)) > 0 {
		return node{}, false
	}
	kept = node{
		name: of.Name, address: addressOf(of, corev1.NodeInternalIP), external: addressOf(of, corev1.NodeExternalIP),
		roles: strings.Join(rolesOf(of.Labels), ","), unschedulable: of.Spec.Unschedulable,
		version: status.Clip(of.Status.NodeInfo.KubeletVersion, maxVersion), ready: metav1.ConditionUnknown,
	}
	at := slices.IndexFunc(of.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if at < 0 {
		return kept, true
	}
	condition := &of.Status.Conditions[at]
	if said := metav1.ConditionStatus(condition.Status); said == metav1.ConditionTrue || said == metav1.ConditionFalse {
		kept.ready = said
	}
	if kept.ready != metav1.ConditionTrue {
		kept.reason = reasonOf(condition.Reason)
	}
	if changed := condition.LastTransitionTime.UTC(); changed.Unix() > 0 && changed.Year() <= 9999 { // other times cannot be in a status
		kept.since = changed.Unix()
	}
	return kept, true
}

// addressOf returns the first address of a type, if it is one.
func addressOf(of *corev1.Node, kind corev1.NodeAddressType) string {
	for _, address := range of.Status.Addresses {
		if address.Type == kind {
			return ipOf(address.Address)
		}
	}
	return ""
}

// ipOf returns an IP address as it is compared; empty for what is not one.
func ipOf(text string) string {
	if len(text) > maxAddress {
		return ""
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	return address.String()
}

// rolesOf returns the roles that labels give a node, as kubectl shows them.
func rolesOf(labels map[string]string) []string {
	var roles []string
	for key, value := range labels {
		if role, is := strings.CutPrefix(key, "node-role.kubernetes.io/"); is {
			roles = append(roles, role)
		} else if key == "kubernetes.io/role" {
			roles = append(roles, value)
		}
	}
	return sortedRoles(roles)
}

// sortedRoles returns the roles that can be some, sorted and each once.
func sortedRoles(roles []string) []string {
	var kept []string
	for _, role := range roles {
		if role != "" && len(validation.IsValidLabelValue(role)) == 0 {
			kept = append(kept, role)
		}
	}
	slices.Sort(kept)
	kept = slices.Compact(kept)
	return kept[:min(len(kept), maxRoles)]
}

// reasonCode is what reasons of conditions look like. A kubelet could write sentences into them.
var reasonCode = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// reasonOf returns the reason of a condition of a node, unless it is not a reason or one of ours: those are about machines that are not nodes.
func reasonOf(said string) string {
	if len(said) > maxReason || !reasonCode.MatchString(said) || isOurs(said) {
		return ""
	}
	return said
}

// isOurs reports whether a reason is about a machine that is not known as a node.
func isOurs(reason string) bool {
	return reason == clusterprovisionerv1alpha1.NodeNotJoined || reason == clusterprovisionerv1alpha1.NodeNotProbed
}

// byName returns nodes sorted by name, each name once.
func byName(nodes []node) []node {
	slices.SortStableFunc(nodes, func(a, b node) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(nodes, func(a, b node) bool { return a.name == b.name })
}
