// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-operator/windlass/internal/membership"
)

// Node explains why pods may not run on a node: its readiness, its cordon, and what its pools still want. Because, if any, what its pools
// want is not looked at: the pools could not be read.
func Node(node *corev1.Node, pools membership.Pools, because string) *Explanation {
	w := newWalk(ObjectOf(kindNode, node))
	w.names = w.names.with(onNode(node.Name))
	w.check(checkNodeReady, func() *finding {
		if isReady(node) {
			return nil
		}
		return &finding{code: CodeNodeNotReady, message: unready(node), evidence: []Evidence{notReady(node)}}
	})
	w.check(checkNodeNotShort, func() *finding { return pressed(node) })
	w.check(checkNodeNotCordoned, func() *finding {
		if !node.Spec.Unschedulable {
			return nil
		}
		return &finding{
			code: CodeNodeCordoned, message: fmt.Sprintf("node %s is cordoned: it accepts no new pods", node.Name),
			evidence: []Evidence{fact(kindNode, node, "spec.unschedulable", "true")},
		}
	})
	if because != "" {
		w.skip(checkNodeCarriesAll, because)
	} else {
		w.check(checkNodeCarriesAll, func() *finding { return unsynced(node, pools) })
	}
	return w.end(fmt.Sprintf("Node %s is ready and accepts pods", node.Name))
}

func pressed(node *corev1.Node) *finding {
	for _, c := range node.Status.Conditions {
		if strings.HasSuffix(string(c.Type), "Pressure") && c.Status == corev1.ConditionTrue {
			return &finding{
				code: CodeNodePressure, message: fmt.Sprintf("node %s has %s: %s", node.Name, c.Type, c.Message),
				evidence: []Evidence{fact(kindNode, node, fmt.Sprintf("status.conditions[%s]", c.Type), "True, "+c.Reason)},
			}
		}
	}
	return nil
}

// unsynced names the first pool that the node does not carry everything of.
func unsynced(node *corev1.Node, pools membership.Pools) *finding {
	plan := membership.NewPlan(node, pools)
	for _, name := range slices.Concat(plan.Members, plan.Leaving) {
		if pools[name].DeletionTimestamp != nil && !carries(node, pools[name]) {
			continue // the pool has let the node go, and waits for others
		}
		if failure := Membership(node, pools, name).Failure(); failure != nil {
			return &finding{
				code: failure.Code, message: failure.Message, evidence: failure.Evidence, names: poolNames(pools[name]),
				at: failure.Next.At, ends: failure.Next.At != nil && failure.Code == CodePoolHolds,
			}
		}
	}
	return nil
}

func poolNames(pool *membership.Pool) names {
	return names{"pool": pool.Name, "generation": strconv.FormatInt(pool.Generation, 10)}
}
