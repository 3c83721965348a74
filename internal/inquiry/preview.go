// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package inquiry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/windlass-operator/windlass/api/nodes/v1"
	"github.com/windlass-operator/windlass/internal/gateway/view"
	"github.com/windlass-operator/windlass/internal/membership"
)

// maxPreviewed is how many nodes, and how many pods, a preview lists.
const maxPreviewed = 500

// Replaced returns the present object with the spec of the given one, and its annotations beside those that there are.
func Replaced(present, given map[string]any) map[string]any {
	present["apiVersion"], present["kind"], present["spec"] = given["apiVersion"], given["kind"], given["spec"]
	more, _ := given["metadata"].(map[string]any)
	annotations, _ := more["annotations"].(map[string]any)
	metadata, ok := present["metadata"].(map[string]any)
	if !ok || len(annotations) == 0 {
		return present
	}
	all, ok := metadata["annotations"].(map[string]any)
	if !ok {
		all = map[string]any{}
	}
	maps.Copy(all, annotations)
	metadata["annotations"] = all
	return present
}

// Foreseen returns a forecast as the API serves it, without the pods.
func Foreseen(of *membership.Forecast) *view.PoolPreview {
	out := &view.PoolPreview{
		Pool: of.Pool, Held: of.Held, Members: of.Members, Changed: len(of.Nodes), Braked: of.Braked, Nodes: []view.NodePreview{}, Pods: []view.Named{},
	}
	if of.Batch != nil {
		out.Batch, out.Waiting = of.Batch.Nodes, int(of.Batch.WaitingNodeCount)
	}
	for i := range of.Nodes {
		node := &of.Nodes[i]
		one := view.NodePreview{Name: node.Node, Membership: "Stays", Drains: node.Drains, Changes: []view.KeyChange{}, Conflicts: []view.KeyConflict{}}
		switch {
		case node.Joins:
			one.Membership = "Joins"
			out.Joining++
		case node.Leaves:
			one.Membership = "Leaves"
			out.Leaving++
		}
		if len(out.Nodes) == maxPreviewed {
			continue
		}
		for _, change := range node.Changes {
			one.Changes = append(one.Changes, view.KeyChange{Key: change.Key, Before: change.Before, After: change.After, Pool: change.Holder})
		}
		for _, conflict := range node.Conflicts {
			one.Conflicts = append(one.Conflicts, view.KeyConflict{Key: conflict.Key, Pool: conflict.Holder})
		}
		out.Nodes = append(out.Nodes, one)
	}
	return out
}

// Evicting returns the taints that would come and delete running pods, by node.
func Evicting(of *membership.Forecast) map[string][]nodesv1.Taint {
	taints := map[string][]nodesv1.Taint{}
	for i := range of.Nodes {
		if len(of.Nodes[i].Evicting) > 0 {
			taints[of.Nodes[i].Node] = of.Nodes[i].Evicting
		}
	}
	return taints
}

// CountEvicted enters the pod if it runs and the taints that come would delete it.
func CountEvicted(into *view.PoolPreview, pod *corev1.Pod, coming []nodesv1.Taint) {
	if membership.Ended(pod) || membership.ToleratesAll(pod, coming) {
		return
	}
	if into.PodCount++; len(into.Pods) < maxPreviewed {
		into.Pods = append(into.Pods, view.Named{Namespace: pod.Namespace, Name: pod.Name})
	}
}
