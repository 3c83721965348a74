// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/event"
	"github.com/windlass-operator/windlass/internal/membership"
)

// applied returns the events of a plan that has been carried out. The pool controller records once for all nodes that they join and
// leave: a thousand joins are not a thousand events.
func applied(node *corev1.Node, pools membership.Pools, plan *membership.Plan) []event.Event {
	var events []event.Event
	if len(plan.Drift) > 0 {
		events = append(events, event.Event{
			Regarding: node, Related: firstPool(pools, plan.Pending),
			Reason: nodesv1.ReasonDriftRepaired, Action: "Repair",
			Note: fmt.Sprintf("Restored %s on node %s, which another writer had changed", strings.Join(plan.Drift, ", "), node.Name),
		})
	}
	if len(plan.Abandoned) > 0 {
		events = append(events, event.Event{
			Regarding: node, Warning: true,
			Reason: nodesv1.ReasonKeysAbandoned, Action: "Clean",
			Note: fmt.Sprintf("Left keys on node %s that its record names for pool %s, because the ledger of the pool does not confirm them",
				node.Name, strings.Join(plan.Abandoned, ", ")),
		})
	}
	return events
}

// contested tells that another writer insists on its values, and that repairs have to wait.
func contested(node *corev1.Node, pools membership.Pools, plan *membership.Plan) event.Event {
	return event.Event{
		Regarding: node, Related: firstPool(pools, plan.Pending), Warning: true,
		Reason: nodesv1.ReasonDriftRepaired, Action: "Repair",
		Note: fmt.Sprintf("Another writer changes %s on node %s again and again: Windlass puts it back at most %d times a minute",
			strings.Join(slices.Sorted(maps.Keys(given(node, plan))), ", "), node.Name, maxRepairs),
	}
}

// refused returns an event for each pool whose labels or taints the API server does not accept on a node, in its own words.
func refused(node *corev1.Node, pools membership.Pools, plan *membership.Plan, err error) []event.Event {
	var events []event.Event
	for _, name := range plan.Pending {
		if pool, ok := pools[name]; ok {
			events = append(events, event.Event{
				Regarding: pool.NodePool, Related: node, Warning: true,
				Reason: nodesv1.ReasonNodeRefused, Action: "Patch",
				Note: fmt.Sprintf("Cannot patch node %s: %v", node.Name, err),
			})
		}
	}
	return events
}

// firstPool returns the first of the named pools that exists, as an untyped nil if there is none.
func firstPool(pools membership.Pools, names []string) runtime.Object {
	for _, name := range names {
		if pool, ok := pools[name]; ok {
			return pool.NodePool // which the scheme knows, unlike what is around it
		}
	}
	return nil
}
